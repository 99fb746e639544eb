#include "sched/monitor.hpp"

#include <sched.h>

#include "base/spinlock.hpp"
#include "sched/futex.hpp"

namespace tmpi::sched {

void Monitor::lock_contended() noexcept {
  // Most stays are shorter than a sleep.
  for (int spins = 0; spins < 100; ++spins) {
    std::uint32_t free = kFree;
    if (word_.load(std::memory_order_relaxed) == kFree &&
        word_.compare_exchange_weak(free, kHeld, std::memory_order_acquire, std::memory_order_relaxed)) {
      return;
    }
    cpu_relax();
  }
  // Who has slept cannot know whether others still do, and says so on their behalf.
  while (word_.exchange(kWanted, std::memory_order_acquire) != kFree) futex_wait(word_, kWanted);
}

void Monitor::wake() noexcept {
  futex_wake_one(word_);
}

void Monitor::yield() noexcept {
  const bool wanted = word_.load(std::memory_order_relaxed) == kWanted;
  unlock();
  sched_yield();
  // Somebody who has just been woken needs a moment to come.
  for (int i = 0; wanted && i < 50 && word_.load(std::memory_order_relaxed) == kFree; ++i) cpu_relax();
  lock();
}

}  // namespace tmpi::sched
