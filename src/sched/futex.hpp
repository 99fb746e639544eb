// The kernel's futex, for words of this process. Linux only; the one place that knows the system call.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace tmpi::sched {

/// Sleeps while `word` is `value`, at most `nanoseconds` (0: for ever). May return early: look again. Blocks
/// the thread.
inline void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                       std::uint64_t nanoseconds = 0) noexcept {
  const timespec timeout{static_cast<time_t>(nanoseconds / 1'000'000'000u),
                         static_cast<long>(nanoseconds % 1'000'000'000u)};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nanoseconds == 0 ? nullptr : &timeout, nullptr, 0);
}

inline void futex_wake_one(const std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

inline void futex_wake_all(const std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace tmpi::sched
