// A thread pointer that belongs to a fiber and not to an OS thread (ult/thread_pointer.hpp), as those see it who lay it
// out (privatize/own_thread_pointer.hpp), put it in force (ult) and have something copied for it.
#pragma once

#include <cxxabi.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "base/platform.hpp"

namespace tmpi {

/// Where a thread pointer has what each fiber has of its own.
struct FiberState {
  int* error = nullptr;         ///< errno
  void** exceptions = nullptr;  ///< __cxa_get_globals(): two words

  /// Of the thread pointer in force.
  static FiberState here() noexcept { return {&errno, reinterpret_cast<void**>(abi::__cxa_get_globals())}; }
};

/// Where it points, and what in its thread control block is the OS thread's.
struct ThreadPointer {
  void* pointer = nullptr;
  FiberState state;
  int* thread_id = nullptr;          ///< the kernel's number of the thread, as libc keeps it there
  std::ptrdiff_t* to_own = nullptr;  ///< this instance of to_own_thread (of_thread.hpp)
  std::uint64_t right_for = 0;       ///< the thread (ult::Thread::number) that the two above tell of
};

/// Distances from the thread pointer of what is copied; filled before a fiber has one of its own, and constant then.
struct CopiedForPointers {
  static constexpr std::size_t kMost = 8;
  std::ptrdiff_t places[kMost] = {};
  std::size_t count = 0;
};
inline constinit CopiedForPointers copied_for_pointers;

/// A thread-local pointer of the initial-exec model that never changes while its thread runs fibers: who comes with a
/// thread pointer of its own is given a copy. Not on a fiber that has one.
template <class T>
void copy_for_pointers(T*& variable) noexcept {
  copied_for_pointers.places[copied_for_pointers.count++] =
      static_cast<std::ptrdiff_t>(reinterpret_cast<std::uint64_t>(&variable) - thread_pointer());
}

}  // namespace tmpi
