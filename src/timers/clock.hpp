// The clock of tmpi: a calibrated time stamp counter where the machine has one that all cores share,
// clock_gettime elsewhere. Arithmetic on time stamps, nothing else. Any thread; never suspends; the first use
// of seconds() or wtime() may calibrate (docs/design/scheduling.md, "The clock": 3 ms less the time since
// begin_calibration()), afterwards no system call.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

#include "base/platform.hpp"

namespace tmpi::timers {

/// Where ticks come from. Decided once per process by the first caller.
enum class Source : std::uint8_t {
  kUndecided,
  kTsc,    ///< invariant TSC, which the kernel itself trusts as its clock source
  kClock,  ///< CLOCK_MONOTONIC in nanoseconds
};

namespace detail {
// Written once, from kUndecided to its final value; relaxed, since the value says everything.
extern std::atomic<Source> g_source;
std::uint64_t first_ticks() noexcept;
}  // namespace detail

/// A time stamp in ticks: about 10 ns, not serializing, comparable between the threads of one machine.
inline std::uint64_t now_ticks() noexcept {
  if (detail::g_source.load(std::memory_order_relaxed) == Source::kTsc) [[likely]]
    return cycle_counter();
  return detail::first_ticks();
}

/// Length of `ticks` in seconds. Exact to 50 ppm of CLOCK_MONOTONIC.
double seconds(std::uint64_t ticks) noexcept;

/// The inverse: the number of ticks in `seconds`.
std::uint64_t ticks(double seconds) noexcept;

/// Seconds since the machine started (CLOCK_MONOTONIC's origin): what MPI_Wtime returns. Never goes back.
double wtime() noexcept;

/// What wtime() said, or would have said, when now_ticks() was `ticks`.
double wtime_at(std::uint64_t ticks) noexcept;

/// Resolution of wtime() in seconds: what MPI_Wtick returns.
double wtick() noexcept;

/// Chooses the source and starts the measurement that calibrate() ends. Called early, the time in between
/// costs nothing. Idempotent.
void begin_calibration() noexcept;

/// Chooses the source and calibrates now rather than at the first use. Idempotent, any thread.
void calibrate() noexcept;

/// How the frequency was found, for -v: "tsc 2599.998 MHz (kernel)", "tsc 2600.002 MHz (measured)",
/// "clock_gettime".
struct Description {
  Source source;
  const char* method;  ///< "kernel", "cpuid", "measured" or "clock_gettime"
  double hertz;
};
Description describe() noexcept;

}  // namespace tmpi::timers
