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
  /// The others are to run while the rank waits for something outside of MPI (--sleep yield).
  bool yields;
  /// Suspends the calling rank's own flow for `nanoseconds`, or until wake() has been called for it, or a
  /// signal has come; may return early. No handler runs. SUSPENDS.
  void (*suspend)(std::uint64_t nanoseconds, const char* call) noexcept;
  /// Any thread.
  void (*wake)(int rank) noexcept;
};

void set_sleep_hooks(const SleepHooks& hooks) noexcept;

/// SleepHooks::suspend and wake.
void suspend_rank(std::uint64_t nanoseconds, const char* call) noexcept;
void wake_rank(int rank) noexcept;

/// errno of the thread that runs the rank now. A function that suspends must not say `errno`: compilers keep its address,
/// and the rank may go on on another thread.
int own_errno() noexcept;
void set_own_errno(int error) noexcept;

}  // namespace tmpi::privatize
