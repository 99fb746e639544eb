// Threads that a rank creates itself (pthread_create, std::thread, OpenMP): each carries its rank's number,
// its own copies of the rank's thread-local blocks and its share of the static pool.
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <new>

#include "privatize/loader.hpp"
#include "privatize/pthread_keys.hpp"
#include "privatize/rank_state.hpp"
#include "privatize/runtime_functions.hpp"
#include "privatize/thread_context.hpp"

namespace tmpi::privatize {
namespace {

struct Start {
  int rank;
  void* (*function)(void*);
  void* argument;
};

/// libc runs key destructors after those of C++ thread_local objects: the copies may be freed only then.
void end_helper(void*) {
  RankState* state = rank_state(thread_context.rank);
  if (state != nullptr) end_helper_keys(*state, thread_context.keys);
  thread_context.keys = nullptr;
  delete thread_context.copies;
  thread_context.copies = nullptr;
}

pthread_key_t end_key() {
  static const pthread_key_t key = [] {
    pthread_key_t made = 0;
    ::pthread_key_create(&made, &end_helper);
    return made;
  }();
  return key;
}

void* run_helper(void* opaque) {
  const std::unique_ptr<Start> owned(static_cast<Start*>(opaque));
  const Start start = *owned;
  thread_context.rank = start.rank;
  thread_context.helper = true;
  ::pthread_setspecific(end_key(), &thread_context);
  if (const RankState* state = rank_state(start.rank)) {
    state->for_each_image([](const ImageSet& set, int index) { initialise_static_tls(set, index); });
  }
  return start.function(start.argument);
}

using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

Create real_create() {
  static const auto real = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return real;
}

std::atomic<bool> forked{false};

// After fork(2) the child has one thread, a worker's: it must finish its own work and leave, never schedule
// other ranks.
struct ForkWatch {
  ForkWatch() {
    pthread_atfork(nullptr, nullptr, [] { forked.store(true, std::memory_order_relaxed); });
  }
} fork_watch;

}  // namespace

bool in_forked_child() noexcept {
  return forked.load(std::memory_order_relaxed);
}

extern "C" __attribute__((visibility("default"))) int tmpi_in_forked_child() {
  return in_forked_child() ? 1 : 0;
}
extern "C" __attribute__((visibility("default"))) int tmpi_on_helper_thread() {
  return thread_context.helper ? 1 : 0;
}

void set_running_rank(int rank) noexcept {
  thread_context.rank = rank;
}

__attribute__((noinline)) int running_rank() noexcept {
  return thread_context.rank;
}

struct ThrdStart {
  thrd_start_t function;
  void* argument;
};

extern "C" int tmpi_thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  auto run = [](void* opaque) -> void* {
    const std::unique_ptr<ThrdStart> owned(static_cast<ThrdStart*>(opaque));
    const ThrdStart start = *owned;
    return reinterpret_cast<void*>(static_cast<std::intptr_t>(start.function(start.argument)));
  };
  auto* start = new (std::nothrow) ThrdStart{function, argument};
  if (start == nullptr) return thrd_nomem;
  const int error = pthread_create(thread, nullptr, run, start);
  if (error == 0) return thrd_success;
  delete start;
  return error == ENOMEM ? thrd_nomem : thrd_error;
}

}  // namespace tmpi::privatize

extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                                     const pthread_attr_t* attributes,
                                                                     void* (*function)(void*),
                                                                     void* argument) {
  const int rank = tmpi::privatize::thread_context.rank;
  if (rank < 0) return tmpi::privatize::real_create()(thread, attributes, function, argument);
  auto* start = new (std::nothrow) tmpi::privatize::Start{rank, function, argument};
  if (start == nullptr) return EAGAIN;
  const int error = tmpi::privatize::real_create()(thread, attributes, &tmpi::privatize::run_helper, start);
  if (error != 0) delete start;
  return error;
}
