// One-sided communication with members on other nodes: the origin's side. The target's is in target.hpp. Any of it only
// while the job has several node processes. docs/design/one-sided.md, "Between nodes".
#pragma once

#include "mpi/remote/remote.hpp"
#include "mpi/rma/operation.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::mpi {

/// Nobody else changes a window's memory while a rank is in the library: elements need not be changed atomically. A
/// progress thread does so for members on other nodes of the job; windows have none in other jobs.
inline bool one_flow_at_a_time() noexcept {
  return sched::single_worker() && job()->nodes() == 1;
}

/// Once, before a window with members on several nodes is used. Any rank.
void listen_to_other_nodes();

// The operations; what is checked in operation.cpp has been. `displacement`: in bytes. The calls SUSPEND only while
// much is on its way to the node, or, in an epoch of MPI_Win_lock_all, until the target is locked.
Err put_remote(Window& window, const Data& origin, const Spot& target, MPI_Aint displacement,
               Request* request);
Err get_remote(Window& window, const Data& origin, const Spot& target, MPI_Aint displacement,
               Request* request);
Err combine_remote(Window& window, Operator which, const Datatype& basic, const Data& origin,
                   const Data& result, const Spot& target, MPI_Aint displacement, Request* request);
Err compare_and_swap_remote(Window& window, const void* origin, const void* compare, void* result,
                            const Spot& target, MPI_Aint displacement);

/// Returns when everything that was sent to the node of `rank` (-1: to all nodes) is done there; what a target has
/// refused since the last time is the error. SUSPENDS.
Err finish_remote(Window& window, int rank);
/// Returns when the buffers at the origin may be used again. SUSPENDS.
void finish_remote_at_origin(Window& window, int rank);
/// MPI_ERR_RMA_RANGE if it is known by now that a target has refused an operation since this was last told. Does not
/// suspend.
Err refused_so_far(Window& window);

/// Returns when the lock is there. SUSPENDS.
void lock_remote(Window& window, int rank, bool exclusive);
// These do not wait.
void tell_unlocked(Window& window, int rank, bool exclusive);
void tell_posted(Window& window, int rank);
void tell_completed(Window& window, int rank);

/// Tells those to whom the lock of member `rank` has been handed out; outside the lock of the protocol layer.
void hand_out(const WindowShared& window, int rank, TargetLock::Applicant* granted);

}  // namespace tmpi::mpi
