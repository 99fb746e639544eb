// A task with a thread pointer of its own (ult/thread_pointer.hpp).
#pragma once

namespace tmpi {
struct ThreadPointer;
}

namespace tmpi::sched {

/// The calling task, a rank's own flow of control on its worker's thread, runs with this thread pointer from now on, on
/// whatever worker. As a scheduling point to compilers: never between taking a thread-local's address and using it.
void take_thread_pointer(ThreadPointer& pointer) noexcept;

}  // namespace tmpi::sched
