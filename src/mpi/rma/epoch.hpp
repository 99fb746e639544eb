// Epochs: which accesses of a window a rank may make now. MPI report, 12.5. Each rank's own; nothing suspends.
#pragma once

#include "mpi/rma/window.hpp"

namespace tmpi::mpi {

[[gnu::cold]] Err no_epoch(const Window& window, int target);
[[gnu::cold]] Err bad_target(const Window& window, int target);
/// MPI_ERR_RMA_SYNC: `call` must not come now; says which epoch is open.
[[gnu::cold]] Err wrong_epoch(const Window& window, const char* call);
[[gnu::cold]] Err bad_assertion(int assertion, const char* call);

/// MPI_ERR_RANK unless it is a member's rank.
inline Err check_member(const Window& window, int rank) {
  return static_cast<unsigned>(rank) < static_cast<unsigned>(window.members->size())
             ? kOk
             : bad_target(window, rank);
}

/// MPI_ERR_RMA_SYNC unless the rank may access the memory of `target`, a member.
inline Err check_access(Window& window, int target) {
  switch (window.epoch) {
    case Epoch::kFence:
      window.epoch = Epoch::kFenceUsed;
      return kOk;
    case Epoch::kFenceUsed:
    case Epoch::kLockAll:
      return kOk;
    case Epoch::kStart:
    case Epoch::kLock:
      if (window.targets[static_cast<std::size_t>(target)] != kNothing) [[likely]]
        return kOk;
      break;
    case Epoch::kNone:
      break;
  }
  return no_epoch(window, target);
}

/// A request-based operation belongs to an epoch of locks (MPI report, 12.3.5).
inline Err check_passive(const Window& window, const char* call) {
  return window.epoch == Epoch::kLock || window.epoch == Epoch::kLockAll ? kOk : wrong_epoch(window, call);
}

/// No access epoch is open, or one that a fence has opened and nobody has used, which is over then.
inline Err begin_access(Window& window, const char* call) {
  if (window.epoch != Epoch::kNone && window.epoch != Epoch::kFence) return wrong_epoch(window, call);
  window.epoch = Epoch::kNone;
  return kOk;
}

}  // namespace tmpi::mpi
