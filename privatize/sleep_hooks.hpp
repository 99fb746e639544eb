// What the scheduler does when a rank sleeps or waits for something outside of the job (--sleep). Registered
// by launch before any rank runs; without, the rank's thread sleeps as in any process.
#pragma once

#include <cstdint>

namespace tmpi::privatize {

/// Of a deadline: until a signal comes.
inline constexpr std::uint64_t kNoDeadline = UINT64_MAX;

struct SleepHooks {
  /// Other ranks share the calling rank's core.
  bool (*in_company)() noexcept;
  /// The calling rank's own flow, in user code, sleeps until CLOCK_MONOTONIC shows `deadline` ns. False: a
  /// signal has ended it before. `call` is for state dumps. SUSPENDS, or blocks the thread, as the user has
  /// chosen.
  bool (*sleep_until)(std::uint64_t deadline, const char* call) noexcept;
};

void set_sleep_hooks(const SleepHooks& hooks) noexcept;

}  // namespace tmpi::privatize
