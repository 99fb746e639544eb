// Monitor: the lock of a worker whose ranks have threads. Whoever holds it is inside the worker: its own
// thread, or a thread of one of its ranks (docs/threads.md). Unlike SpinLock it may be held for long (a large
// copy, a reduction), so those who wait sleep after a short while. Not recursive, not bound to a thread: a
// fiber may leave what another one has entered. Not fair; see yield().
#pragma once

#include <atomic>
#include <cstdint>

namespace tmpi::sched {

class Monitor {
 public:
  void lock() noexcept {
    std::uint32_t free = kFree;
    // acquire pairs with the release in unlock().
    if (!word_.compare_exchange_strong(free, kHeld, std::memory_order_acquire, std::memory_order_relaxed))
        [[unlikely]]
      lock_contended();
  }
  void unlock() noexcept {
    if (word_.exchange(kFree, std::memory_order_release) == kWanted) [[unlikely]]
      wake();
  }
  /// Lets others in and takes it back.
  void yield() noexcept;

 private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kHeld = 1;
  static constexpr std::uint32_t kWanted = 2;  // held, and somebody sleeps until it is free

  void lock_contended() noexcept;
  void wake() noexcept;

  alignas(64) std::atomic<std::uint32_t> word_{kFree};
};

}  // namespace tmpi::sched
