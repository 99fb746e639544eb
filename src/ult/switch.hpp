// The context switch. What a switch carries besides registers and floating-point control words (those are
// Boost.Context's): errno, and the exception state that the process's C++ library keeps per thread, for tmpi and for
// libraries in C++ that ranks share: one may call a rank back in a catch block. A rank's own C++ library has its state in
// the rank. Budget: 10 ns between 2 fibers, no system call, no allocation.
#pragma once

#include "ult/fiber.hpp"

namespace tmpi::ult {

/// The OS thread as a switch sees it: where this thread's errno and exception state lie. Thread-local
/// addresses must not be asked for by a fiber (compilers keep them across calls, and fibers may migrate), so
/// they are asked for once, here. One per worker, used by that worker's thread only.
struct Thread {
  Fiber* from = nullptr;  ///< the fiber that the last switch left
  Fiber* to = nullptr;    ///< the fiber that runs
  int* errno_address = nullptr;
  void** exceptions = nullptr;  ///< __cxa_get_globals(): two words
};

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
