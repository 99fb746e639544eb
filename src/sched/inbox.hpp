// Inbox: tasks that other threads have made ready for this worker, and the worker's bed. One word holds both,
// so that "nothing has come, I go to sleep" and "something has come, is he asleep?" cannot miss each other:
//
//     0            empty, the worker is awake
//     kAsleep      empty, the worker sleeps until the bell rings (or a thread of one of its ranks does, in
//                  its place)
//     a Task*      the newest of a list; the worker is awake or has been called
//
// push(), ring(), asleep(): any thread, lock-free. The rest: who is inside the worker. Never suspends a
// fiber; sleep() blocks the thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "sched/task.hpp"

namespace tmpi::sched {

class Inbox {
 public:
  /// True if something has come. One relaxed load of a line that only changes when something comes.
  bool has_mail() const noexcept { return word_.load(std::memory_order_relaxed) > kAsleep; }

  /// Adds a task and wakes the worker if it sleeps.
  void push(Task& task) noexcept {
    // A guess instead of a load: the exchange then fetches the line once, for writing. Right whenever the
    // worker waits for us.
    std::uintptr_t old = 0;
    do {
      task.next = old == kAsleep ? nullptr : reinterpret_cast<Task*>(old);
      // release pairs with take(): the worker sees the link and whatever was completed before the wake-up.
    } while (!word_.compare_exchange_weak(old, reinterpret_cast<std::uintptr_t>(&task),
                                          std::memory_order_release, std::memory_order_relaxed));
    if (old == kAsleep) ring();
  }

  /// Wakes everybody who sleeps here.
  void ring() noexcept;

  /// Everything that has come, oldest first, linked by `next`; null if nothing has.
  Task* take() noexcept {
    if (!has_mail()) return nullptr;
    // acquire pairs with push().
    return oldest_first(reinterpret_cast<Task*>(word_.exchange(0, std::memory_order_acquire)));
  }

  /// How often the bell has rung; to be read before announce_sleep().
  std::uint32_t bell() const noexcept { return bell_.load(std::memory_order_seq_cst); }
  /// From now on the bell rings at this eventfd too (-1: no longer). seq_cst pairs with ring(): either the
  /// bell is heard there, or bell() shows it.
  void ring_also(int fd) noexcept { bell_fd_.store(fd, std::memory_order_seq_cst); }
  /// Says that the worker is about to sleep (which may have been said already); false if something has come.
  /// What other threads hand over outside the inbox is looked at between announce_sleep() and sleep():
  /// seq_cst pairs with asleep(), so that either they see the announcement or the worker sees what they left.
  bool announce_sleep() noexcept {
    std::uintptr_t expected = 0;
    return word_.compare_exchange_strong(expected, kAsleep, std::memory_order_seq_cst) || expected == kAsleep;
  }
  /// Any thread: has the worker announced that it sleeps?
  bool asleep() const noexcept { return word_.load(std::memory_order_seq_cst) == kAsleep; }
  /// Takes the announcement back.
  void stay_awake() noexcept;
  /// Sleeps until the bell rings once more than `rung` times, at most `nanoseconds` (0: for ever). Takes
  /// nothing, nor back the announcement.
  void sleep(std::uint32_t rung, std::uint64_t nanoseconds) const noexcept;

 private:
  static constexpr std::uintptr_t kAsleep = 1;  // no task has this address

  static Task* oldest_first(Task* newest) noexcept {
    Task* list = nullptr;
    while (newest != nullptr) {
      Task* older = newest->next;
      newest->next = list;
      list = newest;
      newest = older;
    }
    return list;
  }

  alignas(64) std::atomic<std::uintptr_t> word_{0};
  std::atomic<std::uint32_t> bell_{0};  // the futex
  std::atomic<int> bell_fd_{-1};        // where a sleeper listens that watches the event source too
};

}  // namespace tmpi::sched
