// Synchronization of windows below the C interface. Handles have been checked; ranks, assertions and epochs are checked
// here. MPI report, 12.5. MPI_ERR_RMA_SYNC: the call does not fit the epochs that are open. Where operations to other
// nodes are waited for, an error that a target has found comes back: MPI_ERR_RMA_RANGE. docs/design/one-sided.md.
#pragma once

#include "mpi/comm/group_ops.hpp"
#include "mpi/rma/limits.hpp"
#include "mpi/rma/window.hpp"
#include "sched/task.hpp"

namespace tmpi::mpi {

/// For calls that a program may make until something has happened, or that are done at once: every so often the others of
/// the worker have a turn. SUSPENDS then.
inline void let_others_run(Window& window) noexcept {
  if (++window.polls % rma::kPollsPerTurn == 0) [[unlikely]]
    sched::yield();
}

/// All members come. SUSPENDS.
Err fence(Window& window, int assertion);

/// SUSPENDS until all of the group have posted.
Err start(Window& window, const Group& group, int assertion);
/// SUSPENDS until the buffers at the origin are free. MPI_ERR_RMA_RANGE if a target on another node has refused an
/// operation as far as that is known by then: of gets always, of what brings data else at the next call that can tell.
/// The epoch is over all the same.
Err complete(Window& window);
/// Does not suspend.
Err post(Window& window, const Group& group, int assertion);
/// SUSPENDS until all that were posted to have completed.
Err wait(Window& window);
Err test(Window& window, bool& done);

/// First come, first served. SUSPENDS until the lock is there, and until what was done with it is.
Err lock(Window& window, int type, int rank, int assertion);
Err unlock(Window& window, int rank);
Err lock_all(Window& window, int assertion);
Err unlock_all(Window& window);

/// kEverywhere: done at the target; else at the origin only. SUSPEND for other nodes, and every now and then to let
/// others run: a program may wait with these in a loop.
enum class Flush : bool { kAtOrigin, kEverywhere };
Err flush_slowly(Window& window, int rank, Flush how);
inline Err flush(Window& window, int rank, Flush how) {
  // Inside a node everything is done.
  if (window.epoch == Epoch::kLockAll && window.remote == nullptr &&
      static_cast<unsigned>(rank) < static_cast<unsigned>(window.members->size())) [[likely]] {
    let_others_run(window);
    return kOk;
  }
  return flush_slowly(window, rank, how);
}
Err flush_all(Window& window, Flush how);
Err sync(Window& window);

}  // namespace tmpi::mpi
