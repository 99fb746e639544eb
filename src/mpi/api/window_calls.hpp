// The frame of calls with a window.
#pragma once

#include "mpi/base/check.hpp"
#include "mpi/rank/call.hpp"
#include "mpi/rank/info.hpp"
#include "mpi/rma/window.hpp"

namespace tmpi::mpi {

inline ErrorTarget target_of(const Window& window) noexcept {
  return {Raiser::kWin, handle_of(window), window.errhandler};
}

/// MPI_ERR_WIN for a handle that is no window: raised on MPI_COMM_SELF.
[[gnu::cold]] int raise_bad_win(const char* name, MPI_Win handle);

/// What all calls that make windows find wrong with their arguments, for WindowOrder::mistake. `hints`: set in any case.
inline Err check_creation(MPI_Info info, MPI_Win* win, const Info*& hints) {
  static const Info none;
  hints = &none;
  TMPI_TRY(check_pointer(win, "win"));
  *win = MPI_WIN_NULL;
  const Info* given = nullptr;
  TMPI_TRY(hints_from(info, given));
  hints = given;
  return kOk;
}

/// The window, if the caller may use it without a Frame (rank/call.hpp), for what cannot suspend, fail or call back: on
/// the rank's own flow of control, into whose calls no thread of the rank comes. Null: a Frame is needed.
[[gnu::always_inline]] inline Window* window_at_hand(MPI_Win handle) noexcept {
  const sched::Task* const flow = sched::current_until_suspended();
  if (flow == nullptr || flow->kind != sched::TaskKind::kRank ||
      flow->monitored.load(std::memory_order_relaxed) ||
      static_cast<const Rank*>(flow->owner)->phase.load(std::memory_order_relaxed) != Phase::kInitialized)
    return nullptr;
  return window_from(handle);
}

/// Runs `body(Window&)`; its errors are raised on the window.
template <class Body>
[[gnu::always_inline]] inline int on_win(const char* name, MPI_Win handle, Body&& body) {
  const Frame frame(name);
  if (frame.rank() == nullptr) [[unlikely]]
    return raise_not_initialized(name);
  Window* const window = window_from(handle);
  if (window == nullptr) [[unlikely]]
    return raise_bad_win(name, handle);
  if (Err error = guarded([&]() -> Err { return body(*window); })) [[unlikely]]
    return raise_on(name, target_of(*window), error);
  return MPI_SUCCESS;
}

/// The same for a call that all members make together: see do_part().
template <class Body>
int on_win_together(const char* name, MPI_Win handle, Body&& body) {
  return on_win(name, handle, [&](Window& window) {
    return do_part(window.comm->size, "its part of what all members of a window do together",
                   [&]() -> Err { return body(window); });
  });
}

}  // namespace tmpi::mpi
