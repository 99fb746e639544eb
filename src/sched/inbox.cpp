#include "sched/inbox.hpp"

#include <unistd.h>

#include "sched/futex.hpp"

namespace tmpi::sched {

void Inbox::ring() noexcept {
  // seq_cst pairs with bell(): who finds that it has rung sees why; and with ring_also().
  bell_.fetch_add(1, std::memory_order_seq_cst);
  futex_wake_all(bell_);
  if (const int fd = bell_fd_.load(std::memory_order_seq_cst); fd >= 0) {
    const std::uint64_t ring = 1;
    // Fails only when it has rung 2^64 - 1 times, and is readable then.
    [[maybe_unused]] const ssize_t done = write(fd, &ring, sizeof ring);
  }
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
