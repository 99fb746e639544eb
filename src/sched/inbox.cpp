#include "sched/inbox.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace tmpi::sched {

static_assert(sizeof(std::atomic<std::uintptr_t>) == 8 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "the futex is the lower half of the inbox word");

void Inbox::sleep(std::uint64_t nanoseconds) noexcept {
  const timespec timeout{static_cast<time_t>(nanoseconds / 1'000'000'000u),
                         static_cast<long>(nanoseconds % 1'000'000'000u)};
  while (word_.load(std::memory_order_relaxed) == kAsleep) {
    // Returns at once if the word has changed in between, and without cause now and then.
    syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, static_cast<std::uint32_t>(kAsleep),
            nanoseconds == 0 ? nullptr : &timeout, nullptr, 0);
    if (nanoseconds != 0) break;
  }
  stay_awake();
}

void Inbox::stay_awake() noexcept {
  std::uintptr_t expected = kAsleep;
  word_.compare_exchange_strong(expected, 0, std::memory_order_relaxed);
}

void Inbox::wake() noexcept {
  syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace tmpi::sched
