// Fiber: a user-level thread's saved context, and switch_to, the only place in tmpi where control passes from one fiber to
// another. Knows nothing of ranks, workers or MPI.
#pragma once

#include <cstddef>

namespace tmpi::ult {

/// A fiber's memory is [base, base + size); the guard lies below base.
struct Stack {
  std::byte* base = nullptr;
  std::size_t size = 0;
};

struct Fiber {
  void* context = nullptr;  ///< Boost.Context's fcontext_t while not running
  Stack stack;
  int saved_errno = 0;
  void* saved_exceptions[2] = {nullptr, nullptr};  ///< __cxa_eh_globals: a fiber may block inside a catch block
#if defined(__SANITIZE_ADDRESS__)
  void* fake_stack = nullptr;
#endif
#if defined(__SANITIZE_THREAD__)
  void* tsan_fiber = nullptr;
#endif
};

}  // namespace tmpi::ult
