// Fiber: a user-level thread's saved context. switch.hpp has switch_to, the only place in tmpi where control
// passes from one fiber to another; stack_arena.hpp the memory. Knows nothing of ranks, workers or MPI.
#pragma once

#include <cstddef>

#if defined(TMPI_ROOM_WITHOUT_FIBERS)
#error "this room is ONE_THREAD (cmake/TmpiTargets.cmake), and a fiber's type is another under a sanitizer"
#endif

// GCC announces its sanitizers by macros, clang by features.
#if defined(__SANITIZE_ADDRESS__)
#define TMPI_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define TMPI_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TMPI_ASAN 1
#elif __has_feature(thread_sanitizer)
#define TMPI_TSAN 1
#endif
#endif

namespace tmpi {
struct ThreadPointer;
}

namespace tmpi::ult {

/// A fiber's memory is [base, base + size); the guard lies below base.
struct Stack {
  std::byte* base = nullptr;
  std::size_t size = 0;
};

/// The fields that every switch touches come first: 32 bytes, which share a cache line.
struct Fiber {
  void* context = nullptr;  ///< Boost.Context's fcontext_t while not running; null before prepare()
  void* saved_exceptions[2] = {nullptr,
                               nullptr};  ///< __cxa_eh_globals: a fiber may block inside a catch block
  int saved_errno = 0;
  bool has_thread_pointer = false;  ///< thread_pointer is not null
  Stack stack;
  ThreadPointer* thread_pointer = nullptr;  ///< of its own (thread_pointer.hpp); null: that of its thread
#if defined(TMPI_ASAN)
  void* fake_stack = nullptr;
#endif
#if defined(TMPI_TSAN)
  void* tsan_fiber = nullptr;
#endif

  /// From its next switch on; take_thread_pointer() for the running one.
  void run_with(ThreadPointer* pointer) noexcept {
    thread_pointer = pointer;
    has_thread_pointer = pointer != nullptr;
  }
};

}  // namespace tmpi::ult
