// Monitor: the lock of a worker whose ranks have threads. Whoever holds it is inside the worker: its own
// thread, or a thread of one of its ranks (docs/design/threads.md). Unlike SpinLock it may be held for long (a large
// copy, a reduction), so those who wait sleep after a short while. Not recursive, not bound to a thread: a
// fiber may leave what another one has entered. Not fair; see yield().
#pragma once

#include <atomic>
#include <cstdint>

#include "base/platform.hpp"
#include "base/thread_safety.hpp"
#include "sched/door/system.hpp"

namespace tmpi::sched {

template <class S>
class TMPI_CAPABILITY("monitor") BasicMonitor {
 public:
  void lock() noexcept TMPI_ACQUIRE() {
    std::uint32_t free = kFree;
    // acquire pairs with the release in unlock().
    if (!word_.compare_exchange_strong(free, kHeld, std::memory_order_acquire, std::memory_order_relaxed))
        [[unlikely]]
      lock_contended();
  }
  void unlock() noexcept TMPI_RELEASE() {
    // release pairs with every acquire here: who comes in sees what was done inside.
    if (word_.exchange(kFree, std::memory_order_release) == kWanted) [[unlikely]]
      S::wake_one(word_);
  }
  /// Lets others in and takes it back.
  void yield() noexcept TMPI_REQUIRES(this);

 private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kHeld = 1;
  static constexpr std::uint32_t kWanted = 2;  // held, and somebody sleeps until it is free

  void lock_contended() noexcept;

  alignas(kCacheLine) typename S::template Atomic<std::uint32_t> word_{kFree};
};

template <class S>
__attribute__((noinline)) void BasicMonitor<S>::lock_contended() noexcept {
  for (int spins = 0; spins < S::kLockSpins; ++spins) {
    std::uint32_t free = kFree;
    // relaxed: only a hint when to try. acquire pairs with unlock().
    if (word_.load(std::memory_order_relaxed) == kFree &&
        word_.compare_exchange_weak(free, kHeld, std::memory_order_acquire, std::memory_order_relaxed))
      return;
    S::relax();
  }
  // Who has slept cannot know whether others still do, and says so on their behalf. acquire pairs with
  // unlock().
  while (word_.exchange(kWanted, std::memory_order_acquire) != kFree) S::wait_on(word_, kWanted);
}

template <class S>
__attribute__((noinline)) void BasicMonitor<S>::yield() noexcept {
  // relaxed, here and below: hints how long to stay away.
  const bool wanted = word_.load(std::memory_order_relaxed) == kWanted;
  unlock();
  S::yield();
  // Somebody who has just been woken needs a moment to come.
  for (int i = 0; wanted && i < S::kLockSpins / 2 && word_.load(std::memory_order_relaxed) == kFree; ++i)
    S::relax();
  lock();
}

}  // namespace tmpi::sched
