#include "mpi/rma/epoch.hpp"

namespace tmpi::mpi {
namespace {

const char* name_of(Epoch epoch) noexcept {
  switch (epoch) {
    case Epoch::kNone:
      return "no access epoch is open";
    case Epoch::kFence:
    case Epoch::kFenceUsed:
      return "an epoch is open that MPI_Win_fence has begun and will end";
    case Epoch::kStart:
      return "an access epoch is open that MPI_Win_start has begun and MPI_Win_complete ends";
    case Epoch::kLock:
      return "targets are locked by MPI_Win_lock; MPI_Win_unlock ends that";
    case Epoch::kLockAll:
      return "all targets are locked by MPI_Win_lock_all; MPI_Win_unlock_all ends that";
  }
  return "";
}

}  // namespace

Err no_epoch(const Window& window, int target) {
  if (window.epoch == Epoch::kNone)
    return fail(
        MPI_ERR_RMA_SYNC,
        "no access epoch is open: call MPI_Win_fence, MPI_Win_start, MPI_Win_lock or MPI_Win_lock_all first");
  return fail(MPI_ERR_RMA_SYNC, "rank {} is not among the targets of the access epoch: {}", target,
              window.epoch == Epoch::kLock ? "MPI_Win_lock has not been called for it"
                                           : "the group of MPI_Win_start does not have it");
}

Err bad_target(const Window& window, int target) {
  return fail(MPI_ERR_RANK, "the target is {}, but the window has ranks 0 to {}", target,
              window.members->size() - 1);
}

Err wrong_epoch(const Window& window, const char* call) {
  return fail(MPI_ERR_RMA_SYNC, "{} must not be called now: {}{}", call, name_of(window.epoch),
              window.exposed ? ", and the window is exposed by MPI_Win_post until MPI_Win_wait" : "");
}

Err bad_assertion(int assertion, const char* call) {
  return fail(MPI_ERR_ASSERT, "assert is {:#x}, which has bits that mean nothing to {}", assertion, call);
}

}  // namespace tmpi::mpi
