// Eventcount: where threads sleep until something has happened (Reed and Kanodia, 1979). Who wants to sleep
// reads the epoch, looks whether there is anything to do, and sleeps until the epoch is another one; who has
// left something to do calls notify(), which begins the next epoch. What happens after epoch() has been read
// is thus never slept through. Any thread; wait() blocks the thread, nothing suspends a fiber.
#pragma once

#include <atomic>
#include <cstdint>

#include "sched/door/system.hpp"

namespace tmpi::sched {

template <class S>
class BasicEventcount {
 public:
  /// seq_cst pairs with notify(): who reads the epoch that notify() has begun sees what was left before.
  std::uint32_t epoch() const noexcept { return epoch_.load(std::memory_order_seq_cst); }

  /// Begins the next epoch and wakes everybody who sleeps here. A system call.
  void notify() noexcept {
    // seq_cst pairs with epoch(), and with notify_also(): either the load below finds the descriptor, or
    // whoever has made it known sees the new epoch.
    epoch_.fetch_add(1, std::memory_order_seq_cst);
    S::wake_all(epoch_);
    if (const int event = event_.load(std::memory_order_seq_cst); event >= 0) S::signal(event);
  }

  /// From now on notify() signals this event descriptor too (-1: no longer), for one who sleeps there.
  /// seq_cst pairs with notify().
  void notify_also(int event) noexcept { event_.store(event, std::memory_order_seq_cst); }

  /// Sleeps until the epoch is another one than `epoch`, at most `nanoseconds` (0: for ever).
  void wait(std::uint32_t epoch, std::uint64_t nanoseconds) const noexcept {
    // The kernel compares again, under its lock; it wakes without cause now and then.
    while (this->epoch() == epoch) {
      S::wait_on(epoch_, epoch, nanoseconds);
      if (nanoseconds != 0) break;
    }
  }

 private:
  typename S::template Atomic<std::uint32_t> epoch_{0};  // the futex
  typename S::template Atomic<int> event_{-1};           // where one sleeps who watches the network too
};

using Eventcount = BasicEventcount<System>;

}  // namespace tmpi::sched
