#include "mpi/init/lifetime.hpp"

#include <algorithm>

#include "mpi/base/no_memory.hpp"
#include "mpi/coll/coll.hpp"
#include "mpi/coll/nonblocking.hpp"
#include "mpi/init/world.hpp"
#include "mpi/p2p/buffered.hpp"
#include "mpi/rank/attributes.hpp"
#include "mpi/rank/callbacks.hpp"
#include "mpi/rank/counters.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/rank/threads.hpp"
#include "sched/metering.hpp"
#include "sched/scheduler.hpp"
#include "timers/clock.hpp"

namespace tmpi::mpi {

Err start_singleton() {
  if (callbacks().start_singleton == nullptr) return kOk;
  return guarded([]() -> Err {
    callbacks().start_singleton();
    return kOk;
  });
}

void raise_thread_level(Rank& rank, int required) {
  const int level = std::clamp<int>(required, MPI_THREAD_SINGLE, MPI_THREAD_MULTIPLE);
  if (level < rank.thread_level) return;  // the most that anybody asks for
  rank.thread_level = level;
  admit_threads(rank);
}

namespace {

// MPI becomes usable: with MPI_Init or the first session, whichever comes first. It may have been before.
void begin(Rank& rank, int required_thread_level) {
  const bool first = rank.phase != Phase::kInitialized;
  if (first) rank.thread_level = MPI_THREAD_SINGLE;
  raise_thread_level(rank, required_thread_level);
  if (!first) return;
  (sched::tasks_move() ? rank.place : rank.worker).store(sched::current_worker(), std::memory_order_relaxed);
  rank.phase = Phase::kInitialized;
  if (sched::switches_metered()) rank.task->meter.clock.start(timers::now_ticks());
  if (callbacks().initialized != nullptr) callbacks().initialized(rank);
}

// What the rank has started goes on without it, or is over.
void settle(Rank& rank) {
  for (SendBuffer* each = rank.buffer.get(); each != nullptr; each = each->next.get()) each->drain();
  // Those of sessions that go on after MPI_Finalize stay.
  if (rank.open_sessions == 0 || rank.world_phase != Phase::kInitialized) rank.buffer.reset();
  finish_operations(rank);
}

// The last use of MPI is over.
void end(Rank& rank) {
  if (rank.has_ports) (void)callbacks().ports(rank, {.kind = PortCall::Kind::kLeave, .port = {}, .name = {}});
  rank.requests.collect();
  Counters::close_all(rank);
  if (sched::switches_metered()) rank.ran = timers::seconds(rank.task->meter.clock.read(timers::now_ticks()));
  rank.phase = Phase::kFinalized;
  if (callbacks().finalized != nullptr) callbacks().finalized(rank);
}

}  // namespace

Err initialize(Rank& rank, int required_thread_level) {
  if (rank.world_phase == Phase::kInitialized) return fail(MPI_ERR_OTHER, "MPI has been initialized already");
  if (rank.world_phase == Phase::kFinalized)
    return fail(MPI_ERR_OTHER, "MPI has been finalized and cannot be initialized again");
  init_world(rank);
  rank.world_phase = Phase::kInitialized;
  begin(rank, required_thread_level);
  return kOk;
}

Err finalize(Rank& rank) {
  if (!is_main_flow())
    return fail(MPI_ERR_OTHER,
                "called by a thread that the rank has created; the thread that called MPI_Init must do "
                "it");
  if (rank.world_phase != Phase::kInitialized)
    return fail(MPI_ERR_OTHER, "called without MPI_Init: sessions end with MPI_Session_finalize");
  // Before anything else is affected by finalization (MPI report, 11.2.4).
  TMPI_TRY(delete_attributes(rank.self));
  settle(rank);
  TMPI_TRY(with_memory_for("the last barrier", [&] { return barrier(rank.world); }));
  rank.world_phase = Phase::kFinalized;
  finish_world(rank);
  if (rank.open_sessions == 0) end(rank);
  return kOk;
}

int open_session(Rank& rank, int required_thread_level) {
  begin(rank, required_thread_level);
  ++rank.open_sessions;
  return rank.thread_level;
}

Err close_session(Rank& rank) {
  const bool last = rank.open_sessions == 1 && rank.world_phase != Phase::kInitialized;
  if (last) settle(rank);
  --rank.open_sessions;
  if (last) end(rank);
  return kOk;
}

}  // namespace tmpi::mpi
