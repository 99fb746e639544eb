// Thread-locals under a thread pointer that is not the OS thread's. A rank whose program has thread-locals at fixed
// distances from the thread pointer runs with one of its own (ult/thread_pointer.hpp), and so does what it calls in the
// runtime: a thread-local of the runtime is then the rank's. That is right for what belongs to a flow of control
// (errno, a buffer, a mark that one is inside). What is the OS thread's, as which task it runs, is found by this.
#pragma once

#include <cstddef>

namespace tmpi {

/// From the thread pointer in force to the OS thread's own; 0 but while a rank with one of its own runs.
inline constinit thread_local std::ptrdiff_t to_own_thread __attribute__((tls_model("initial-exec"))) = 0;

/// The OS thread's instance of a thread-local variable of the initial-exec model.
template <class T>
[[gnu::always_inline]] inline T& of_thread(T& variable) noexcept {
  return *reinterpret_cast<T*>(reinterpret_cast<char*>(&variable) + to_own_thread);
}

}  // namespace tmpi
