#include "privatize/fallback_exit.hpp"

#include <unistd.h>

#include <new>

#include "privatize/rank_callbacks.h"
#include "privatize/rank_state.hpp"
#include "privatize/thread_context.hpp"

extern "C" int __cxa_thread_atexit_impl(void (*function)(void*), void* argument, void* object);

namespace tmpi::privatize {

extern "C" void tmpi_image_fini(int rank);

extern "C" int tmpi_fallback_cxa_atexit(void (*function)(void*), void* argument, void* object) {
  RankState* state = rank_state(thread_context().rank);
  if (state == nullptr) return -1;
  try {
    state->exit_handlers.push_back({function, argument, object});
  } catch (const std::bad_alloc&) {
    return -1;
  }
  return 0;
}

/// Destructors of thread_local objects: a helper thread's are libc's business, the rank's own run with the
/// rest at its exit.
extern "C" int tmpi_fallback_cxa_thread_atexit(void (*function)(void*), void* argument, void* object) {
  if (thread_context().helper) return __cxa_thread_atexit_impl(function, argument, object);
  return tmpi_fallback_cxa_atexit(function, argument, object);
}

extern "C" int tmpi_fallback_atexit(void (*function)()) {
  return tmpi_fallback_cxa_atexit([](void* stored) { reinterpret_cast<void (*)()>(stored)(); },
                                  reinterpret_cast<void*>(function), nullptr);
}

/// Runs the handlers of one object (dlclose), or all of them for null; handlers may register more.
extern "C" void tmpi_fallback_cxa_finalize(void* object) {
  RankState* state = rank_state(thread_context().rank);
  if (state == nullptr) return;
  auto& handlers = state->exit_handlers;
  for (std::size_t i = handlers.size(); i-- > 0;) {
    if (i >= handlers.size() || (object != nullptr && handlers[i].object != object)) continue;
    const ExitHandler handler = handlers[i];
    handlers.erase(handlers.begin() + static_cast<std::ptrdiff_t>(i));
    handler.function(handler.argument);
    i = handlers.size();
  }
}

void fallback_exit(int code) noexcept {
  const int rank = thread_context().rank;
  tmpi_fallback_cxa_finalize(nullptr);
  tmpi_image_fini(rank);
  tmpi_rank_exited(rank, code);
}

}  // namespace tmpi::privatize
