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

/// The rank may access the memory of `target`, a member.
inline bool may_access(const Window& window, int target) noexcept {
  switch (window.epoch) {
    case Epoch::kFence:
    case Epoch::kFenceUsed:
    case Epoch::kLockAll:
      return true;
    case Epoch::kStart:
    case Epoch::kLock:
      return window.targets[static_cast<std::size_t>(target)] != kNothing;
    case Epoch::kNone:
      break;
  }
  return false;
}

/// Nothing but this rank touches the memory of `target`, which it may access, now.
inline bool alone(const Window& window, int target) noexcept {
  return window.one_flow ||
         (window.epoch == Epoch::kLock && window.targets[static_cast<std::size_t>(target)] == kExclusive);
}

/// MPI_ERR_RMA_SYNC if it may not. What passes, and all other checks, is told by note_access(), so that a call that fails
/// changes nothing.
inline Err check_access(const Window& window, int target) {
  return may_access(window, target) ? kOk : no_epoch(window, target);
}

/// Only a fence ends an epoch that a fence has opened, from now on.
inline void note_access(Window& window) noexcept {
  if (window.epoch == Epoch::kFence) window.epoch = Epoch::kFenceUsed;
}

/// A request-based operation belongs to an epoch of locks (MPI report, 12.3.5).
inline Err check_passive(const Window& window, const char* call) {
  return window.epoch == Epoch::kLock || window.epoch == Epoch::kLockAll ? kOk : wrong_epoch(window, call);
}

/// No access epoch is open, or one that a fence has opened and nobody has used, which is over when another begins.
inline Err check_no_access(const Window& window, const char* call) {
  return window.epoch == Epoch::kNone || window.epoch == Epoch::kFence ? kOk : wrong_epoch(window, call);
}

}  // namespace tmpi::mpi
