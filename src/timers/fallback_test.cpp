// A machine whose time stamp counter cannot be trusted: ticks are CLOCK_MONOTONIC's nanoseconds. A program of
// its own, because the source is chosen once per process.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "timers/clock.hpp"

namespace tmpi::timers {
namespace {

std::uint64_t monotonic() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

TEST_CASE("without a trustworthy counter ticks are nanoseconds of CLOCK_MONOTONIC") {
  detail::g_source.store(Source::kClock);  // what tsc_is_trustworthy() == false leads to
  begin_calibration();
  calibrate();
  const Description d = describe();
  CHECK(d.source == Source::kClock);
  CHECK(std::strcmp(d.method, "clock_gettime") == 0);
  CHECK(std::fabs(wtick() - 1e-9) < 1e-15);
  CHECK(std::fabs(seconds(1'500'000'000) - 1.5) < 1e-9);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t before = monotonic(), ours = now_ticks(), after = monotonic();
    REQUIRE(before <= ours);
    REQUIRE(ours <= after);
    const double wall_before = 1e-9 * static_cast<double>(monotonic()), wall = wtime();
    REQUIRE(wall >= wall_before - 1e-6);
    REQUIRE(wall <= 1e-9 * static_cast<double>(monotonic()) + 1e-6);
  }
}

}  // namespace
}  // namespace tmpi::timers
