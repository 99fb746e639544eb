// What the scheduler does for the threads of ranks, which the loader starts. Registered by launch before any
// rank runs; without, waiting blocks the worker.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace tmpi {
struct ThreadPointer;
}

namespace tmpi::privatize {

/// Something that happens once and that one flow of control waits for: kPending, kDone, or whom to wake.
class ThreadEvent {
 public:
  /// Any thread, once. The event may be gone after the call.
  void happen() noexcept;
  /// Suspends the calling rank's own flow until the event has happened; other ranks of the worker run
  /// meanwhile. Only where may_suspend(). `where` is for state dumps of blocked ranks. SUSPENDS.
  void wait(const char* where) noexcept;

  /// For ThreadHooks::wait: leaves whom to wake; false if the event has happened.
  bool leave(void* waiter) noexcept {
    std::uintptr_t expected = kPending;
    // acq_rel: who waits sees what was done before the event, and whoever wakes it sees the waiter.
    return state_.compare_exchange_strong(expected, reinterpret_cast<std::uintptr_t>(waiter),
                                          std::memory_order_acq_rel);
  }

 private:
  static constexpr std::uintptr_t kPending = 0;
  static constexpr std::uintptr_t kDone = 1;
  std::atomic<std::uintptr_t> state_{kPending};
};
static_assert(sizeof(ThreadEvent) == sizeof(std::uintptr_t));  // the shim knows it as a word

struct ThreadHooks {
  /// The rank is about to create a thread: called on its own flow, for each.
  void (*created)(int rank) noexcept;
  /// True if the calling rank's own flow is in user code, not in a callback of the library.
  bool (*in_user_code)() noexcept;
  /// Suspends the calling rank until the event happens.
  void (*wait)(ThreadEvent& event, const char* where) noexcept;
  /// Wakes what was left in the event. Any thread.
  void (*wake)(void* waiter) noexcept;
  /// Lets other ranks of the worker run. SUSPENDS.
  void (*yield)() noexcept;
  /// The rank has something that belongs to the thread it runs on: it must not go on on another one. Called on that
  /// thread.
  void (*stays)(int rank) noexcept;
  /// The rank has chosen cores for itself, which does not move its worker. Any thread of it.
  void (*chooses_cores)(int rank) noexcept;
  /// The calling rank's own flow runs with this thread pointer from now on.
  void (*takes_thread_pointer)(ThreadPointer& pointer) noexcept;
};

void set_thread_hooks(const ThreadHooks& hooks) noexcept;

/// The calling thread, which libc has made on a rank's behalf, is that rank's from now on, as those are that
/// the rank creates itself.
void become_helper(int rank) noexcept;

/// True where the calling flow can wait without blocking its thread: a rank's own, in user code.
bool may_suspend() noexcept;
/// The same, and some rank of the process has created a thread.
bool may_wait_for_threads() noexcept;
/// ThreadHooks::stays, if there is one.
void stay_on_thread(int rank) noexcept;
/// ThreadHooks::takes_thread_pointer, which there must be where programs need it.
void run_with(ThreadPointer& pointer) noexcept;
/// pthread_create and pthread_join of libc, for threads of the runtime that a rank is the reason for.
int create_own_thread(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                      void* argument);
void join_own_thread(pthread_t thread) noexcept;
/// ThreadHooks::chooses_cores, if there is one.
void tell_of_choice(int rank) noexcept;
/// Where may_suspend(): runs other ranks of the worker that are ready. SUSPENDS.
void let_others_run() noexcept;

}  // namespace tmpi::privatize
