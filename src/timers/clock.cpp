#include "timers/clock.hpp"

#include <cmath>
#include <cstdlib>
#include <mutex>

#include "timers/tsc.hpp"

namespace tmpi::timers {
namespace detail {

std::atomic<Source> g_source{Source::kUndecided};

}  // namespace detail

namespace {

// The line through (anchor, origin) with this slope; written once under g_once, published by g_calibrated.
struct Calibration {
  std::uint64_t anchor = 0;
  double origin = 0;
  double seconds_per_tick = 1e-9;
  const char* method = "clock_gettime";
};
Calibration g_calibration;
std::once_flag g_once;
std::atomic<bool> g_calibrated{false};

// A measurement this long is exact to about 10 ppm; the check of a frequency learnt elsewhere only has to
// catch nonsense.
constexpr std::uint64_t kMeasureNanoseconds = 3'000'000;
constexpr std::uint64_t kCheckNanoseconds = 200'000;
constexpr double kCheckTolerance = 1e-3;

std::uint64_t clock_ticks() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

Source decide_source() noexcept {
  Source source = detail::g_source.load(std::memory_order_relaxed);
  if (source != Source::kUndecided) return source;
  // Every thread that comes here at the same time comes to the same answer.
  source = tsc_is_trustworthy() ? Source::kTsc : Source::kClock;
  detail::g_source.store(source, std::memory_order_relaxed);
  return source;
}

/// The start of the measurement: the first call's time.
const Moment& first_moment() noexcept {
  static const Moment moment = read_both();
  return moment;
}

void calibrate_tsc() noexcept {
  double hertz = tsc_hertz_from_kernel();
  const char* method = "kernel";
  if (hertz == 0) {
    hertz = tsc_hertz_from_cpuid();
    method = "cpuid";
  }
  if (hertz != 0) {
    const double measured = measure_tsc_hertz(first_moment(), kCheckNanoseconds);
    if (std::fabs(measured / hertz - 1) > kCheckTolerance) hertz = 0;
  }
  if (hertz == 0) {
    hertz = measure_tsc_hertz(first_moment(), kMeasureNanoseconds);
    method = "measured";
  }
  const Moment now = read_both();
  g_calibration = {now.tsc, static_cast<double>(now.nanoseconds) * 1e-9, 1 / hertz, method};
}

const Calibration& calibration() noexcept {
  // acquire pairs with the release below: the calibration is complete.
  if (!g_calibrated.load(std::memory_order_acquire)) [[unlikely]] {
    std::call_once(g_once, [] {
      if (decide_source() == Source::kTsc) calibrate_tsc();
      g_calibrated.store(true, std::memory_order_release);
    });
  }
  return g_calibration;
}

// Signed: another core's counter may lag the anchor by a few ticks right after calibration, and what has been read before
// it lies before it.
double time_at(const Calibration& c, std::uint64_t ticks) noexcept {
  return c.origin + static_cast<double>(static_cast<std::int64_t>(ticks - c.anchor)) * c.seconds_per_tick;
}

}  // namespace

namespace detail {

std::uint64_t first_ticks() noexcept {
  return decide_source() == Source::kTsc ? cycle_counter() : clock_ticks();
}

}  // namespace detail

double seconds(std::uint64_t ticks) noexcept {
  return static_cast<double>(ticks) * calibration().seconds_per_tick;
}

std::uint64_t ticks(double seconds) noexcept {
  return static_cast<std::uint64_t>(seconds / calibration().seconds_per_tick);
}

double wtime() noexcept {
  const Calibration& c = calibration();
  return time_at(c, now_ticks());
}

double wtime_at(std::uint64_t ticks) noexcept {
  return time_at(calibration(), ticks);
}

double wtick() noexcept {
  return calibration().seconds_per_tick;
}

void begin_calibration() noexcept {
  if (decide_source() == Source::kTsc) (void)first_moment();
}

void calibrate() noexcept {
  (void)calibration();
}

Description describe() noexcept {
  const Calibration& c = calibration();
  return {detail::g_source.load(std::memory_order_relaxed), c.method, 1 / c.seconds_per_tick};
}

}  // namespace tmpi::timers
