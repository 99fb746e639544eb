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
  /// The others run while the rank waits for something outside of MPI: not with --sleep hold.
  bool yields;
  /// A scheduling point of the calling rank's own flow, in user code; handlers run. False: no other rank was ready.
  /// SUSPENDS.
  bool (*give_way)() noexcept;
  /// Suspends the calling rank's own flow for `nanoseconds`, or until wake() has been called for it, or a
  /// signal has come; may return early. No handler runs. SUSPENDS.
  void (*suspend)(std::uint64_t nanoseconds, const char* call) noexcept;
  /// Any thread.
  void (*wake)(int rank) noexcept;
};

void set_sleep_hooks(const SleepHooks& hooks) noexcept;

/// Where may_suspend() and not in a handler: SleepHooks::give_way. SUSPENDS.
bool give_way() noexcept;
/// Whether the calling flow may leave its core to others that it has there: a rank's own, in user code, in no handler.
bool in_company() noexcept;
/// Suspends the calling rank in user code for so long; handlers run then. SUSPENDS.
void rest_rank(std::uint64_t nanoseconds, const char* call) noexcept;
/// SleepHooks::suspend and wake.
void suspend_rank(std::uint64_t nanoseconds, const char* call) noexcept;
void wake_rank(int rank) noexcept;

/// errno of the thread that runs the rank now. A function that suspends must not say `errno`: compilers keep its address,
/// and the rank may go on on another thread.
int own_errno() noexcept;
void set_own_errno(int error) noexcept;

}  // namespace tmpi::privatize
