#include "sched/inbox.hpp"

#include "sched/futex.hpp"

namespace tmpi::sched {

void Inbox::ring() noexcept {
  // release pairs with bell(): who finds that it has rung sees why.
  bell_.fetch_add(1, std::memory_order_release);
  futex_wake_all(bell_);
}

void Inbox::sleep(std::uint32_t rung, std::uint64_t nanoseconds) const noexcept {
  // Returns at once if it has rung in between, and without cause now and then.
  while (bell() == rung) {
    futex_wait(bell_, rung, nanoseconds);
    if (nanoseconds != 0) break;
  }
}

void Inbox::stay_awake() noexcept {
  std::uintptr_t expected = kAsleep;
  word_.compare_exchange_strong(expected, 0, std::memory_order_relaxed);
}

}  // namespace tmpi::sched
