// The platform's side of the clock: may the time stamp counter be used, and how fast does it tick. x86-64
// Linux.
#pragma once

#include <cstdint>

namespace tmpi::timers {

/// The counter is invariant (ticks at one rate in all power states) and the kernel uses it as its clock
/// source, that is, found it synchronous on all sockets. No measurement.
bool tsc_is_trustworthy() noexcept;

/// Ticks per second as the kernel knows them (perf's user page), 0 where perf events are not permitted. About
/// 20 microseconds.
double tsc_hertz_from_kernel() noexcept;

/// Ticks per second by CPUID leaf 0x15 (Intel; exact where the crystal's frequency is listed), else 0.
double tsc_hertz_from_cpuid() noexcept;

/// A moment by both clocks.
struct Moment {
  std::uint64_t tsc = 0;
  std::uint64_t nanoseconds = 0;  ///< CLOCK_MONOTONIC
};

/// Reads both clocks as close together as possible: the tightest of several attempts, exact to some 10 ns.
Moment read_both() noexcept;

/// Measures ticks per second against CLOCK_MONOTONIC from `start` until now, but at least over `nanoseconds`:
/// spins for what is missing.
double measure_tsc_hertz(const Moment& start, std::uint64_t nanoseconds) noexcept;

}  // namespace tmpi::timers
