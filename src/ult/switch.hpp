// The context switch. What a switch carries besides registers and floating-point control words (those are
// Boost.Context's): errno, and the exception state that the process's C++ library keeps per thread, for tmpi and for
// libraries in C++ that ranks share: one may call a rank back in a catch block. A rank's own C++ library has its state in
// the rank. Budget: 10 ns between 2 fibers, no system call, no allocation.
#pragma once

#include <cstdint>

#include "base/thread_pointer.hpp"
#include "ult/fiber.hpp"

namespace tmpi::ult {

/// The OS thread as a switch sees it: where this thread's errno and exception state lie. Thread-local
/// addresses must not be asked for by a fiber (compilers keep them across calls, and fibers may migrate), so
/// they are asked for once, here. One per worker, used by that worker's thread only.
struct Thread {
  Fiber* from = nullptr;  ///< the fiber that the last switch left
  Fiber* to = nullptr;    ///< the fiber that runs
  FiberState state;       ///< of its own thread pointer
  // What follows matters with fibers that have a thread pointer of their own.
  /// Fibers that have a thread pointer of their own run with it: the thread is a worker's own. Else several threads might
  /// run with one.
  bool takes_pointers = false;
  int thread_id = 0;                        ///< gettid()
  std::uint64_t number = 0;                 ///< no other has it, nor had
  void* own_pointer = nullptr;              ///< its own thread pointer
  const ThreadPointer* in_force = nullptr;  ///< of a fiber; null: its own
};

namespace detail {

inline void save_state(const FiberState& state, Fiber& from) noexcept {
  from.saved_errno = *state.error;
  from.saved_exceptions[0] = state.exceptions[0];
  from.saved_exceptions[1] = state.exceptions[1];
}
inline void restore_state(const FiberState& state, const Fiber& to) noexcept {
  *state.error = to.saved_errno;
  state.exceptions[0] = to.saved_exceptions[0];
  state.exceptions[1] = to.saved_exceptions[1];
}

void exchange_thread_pointer(Thread& thread, const Fiber& to) noexcept;
/// One of the two has a thread pointer of its own.
void exchange_with_pointers(Thread& thread, Fiber& from, const Fiber& to) noexcept;

}  // namespace detail

/// Puts the thread pointer in force with which `to` runs; switch_to() does it if it has not been done. Before hooks of a
/// switch that concern what libc keeps per thread. Never between taking a thread-local's address and using it.
[[gnu::always_inline]] inline void take_thread_pointer(Thread& thread, const Fiber& to) noexcept {
  if (to.has_thread_pointer || thread.to->has_thread_pointer) [[unlikely]]
    detail::exchange_thread_pointer(thread, to);
}

/// Fills in `thread` for the calling thread and describes the flow of control that calls as the fiber `self`,
/// so that it can be left by switch_to and returned to.
void attach(Thread& thread, Fiber& self) noexcept;

/// Gives back what attach() took for `self` (sanitizers' bookkeeping).
void detach(Fiber& self) noexcept;

/// Lays the first frame on fiber.stack: the first switch to the fiber calls entry(fiber), which must not
/// return. The first touch of the stack's memory, hence to be called by the worker that will run the fiber
/// (NUMA).
using Entry = void (*)(Fiber& self) noexcept;
void prepare(Fiber& fiber, Entry entry) noexcept;

/// Releases a fiber that will not run again (sanitizers' bookkeeping; the stack belongs to the arena).
void release(Fiber& fiber) noexcept;

/// Leaves `from`, the running fiber, for `to`. Returns when somebody switches back to `from`, with the thread
/// that it then runs on.
Thread& switch_to(Thread& thread, Fiber& from, Fiber& to) noexcept;

/// Leaves `from` for good.
[[noreturn]] void abandon_to(Thread& thread, Fiber& from, Fiber& to) noexcept;

}  // namespace tmpi::ult
