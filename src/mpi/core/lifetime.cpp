#include "mpi/core/lifetime.hpp"

#include <algorithm>

#include "mpi/coll/coll.hpp"
#include "mpi/comm/world.hpp"
#include "mpi/core/attributes.hpp"
#include "mpi/core/counters.hpp"
#include "mpi/core/rank.hpp"
#include "mpi/core/services.hpp"
#include "mpi/core/threads.hpp"
#include "mpi/p2p/buffered.hpp"
#include "sched/metering.hpp"
#include "sched/scheduler.hpp"
#include "timers/clock.hpp"

namespace tmpi::mpi {

void start_singleton() {
  if (services().start_singleton != nullptr) services().start_singleton();
}

Err initialize(Rank& rank, int required_thread_level) {
  if (rank.phase == Phase::kInitialized) return fail(MPI_ERR_OTHER, "MPI has been initialized already");
  if (rank.phase == Phase::kFinalized)
    return fail(MPI_ERR_OTHER, "MPI has been finalized and cannot be initialized again");
  rank.thread_level = std::clamp<int>(required_thread_level, MPI_THREAD_SINGLE, MPI_THREAD_MULTIPLE);
  admit_threads(rank);
  init_world(rank);
  rank.worker.store(sched::current_worker(), std::memory_order_relaxed);
  rank.phase = Phase::kInitialized;
  if (sched::switches_metered()) rank.task->meter.clock.start(timers::now_ticks());
  if (services().initialized != nullptr) services().initialized(rank);
  return kOk;
}

Err finalize(Rank& rank) {
  if (!is_main_flow())
    return fail(MPI_ERR_OTHER,
                "called by a thread that the rank has created; the thread that called MPI_Init must do it");
  // Before anything else is affected by finalization (MPI report, 11.2.4).
  TMPI_TRY(delete_attributes(rank.self));
  if (rank.buffer != nullptr) {
    rank.buffer->drain();
    rank.buffer.reset();
  }
  TMPI_TRY(barrier(rank.world));
  rank.requests.collect();
  Counters::close_all(rank);
  rank.phase = Phase::kFinalized;
  finish_world(rank);
  if (services().finalized != nullptr) services().finalized(rank);
  return kOk;
}

}  // namespace tmpi::mpi
