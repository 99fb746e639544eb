// Load balance as programs see it: mpix.h.
#include "mpi/api/profiled.hpp"
#include "mpi/base/check.hpp"
#include "mpi/coll/coll.hpp"
#include "mpi/rank/call.hpp"
#include "sched/move.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::mpi {
namespace {

Err check_main_flow() {
  if (is_main_flow()) return kOk;
  return fail(MPI_ERR_OTHER,
              "called by a thread that the rank has created: only the rank's own flow of control moves");
}

Err migrate(int worker) {
  const int workers = sched::scheduler()->workers();
  if (worker < 0 || worker >= workers)
    return fail(MPI_ERR_ARG, "there is no worker {}: the node process has {}, counted from 0", worker,
                workers);
  switch (sched::move_to(worker)) {
    case sched::Moved::kYes:
      return kOk;
    case sched::Moved::kStationary:
      return fail(
          MPI_ERR_UNSUPPORTED_OPERATION,
          "ranks of this job stay where they are: run it on several workers with --balance manual, or "
          "another --balance than none");
    case sched::Moved::kAnchored:
      return fail(MPI_ERR_UNSUPPORTED_OPERATION,
                  "the rank has something that belongs to its core: a nonblocking collective under way, an "
                  "open counter, threads, OpenMP, a working directory of "
                  "its own, or "
                  "MPIX_Pin");
    case sched::Moved::kThreads:
      return fail(
          MPI_ERR_UNSUPPORTED_OPERATION,
          "a rank of worker {} or of the calling rank's worker has threads, which come into the worker: no "
          "rank moves there or from there",
          worker);
    case sched::Moved::kNoMemory:
      return fail(
          MPI_ERR_NO_MEM,
          "messages that ranks of the worker have sent must be delivered before one leaves it, and there "
          "is no memory for them: receive some first");
  }
  return kOk;
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPIX_Get_worker(int* worker, int* workers) {
  return on_rank("MPIX_Get_worker", [&](Rank&) -> Err {
    if (worker != nullptr) *worker = tmpi::sched::current_worker();
    if (workers != nullptr) *workers = tmpi::sched::scheduler()->workers();
    return kOk;
  });
}
TMPI_PROFILED(MPIX_Get_worker);

int PMPIX_Migrate(int worker) {
  return on_rank("MPIX_Migrate", [&](Rank&) -> Err {
    TMPI_TRY(check_main_flow());
    return migrate(worker);
  });
}
TMPI_PROFILED(MPIX_Migrate);

int PMPIX_Balance(void) {
  return on_rank("MPIX_Balance", [&](Rank& rank) -> Err {
    if (!tmpi::sched::plans()) return kOk;
    tmpi::sched::plan_soon();
    return barrier(rank.world);
  });
}
TMPI_PROFILED(MPIX_Balance);

int PMPIX_Pin(int flag) {
  return on_rank("MPIX_Pin", [&](Rank& rank) -> Err {
    TMPI_TRY(check_main_flow());
    if (rank.pinned == (flag != 0)) return kOk;
    rank.pinned = flag != 0;
    if (rank.pinned) {
      tmpi::sched::anchor(*rank.task);
    } else {
      tmpi::sched::unanchor(*rank.task);
    }
    return kOk;
  });
}
TMPI_PROFILED(MPIX_Pin);
