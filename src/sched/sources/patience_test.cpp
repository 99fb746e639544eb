#include "sched/sources/patience.hpp"

#include <doctest/doctest.h>

namespace tmpi::sched {
namespace {

constexpr std::uint64_t kLeast = 50, kLongest = kLeast << Patience::kMostDoublings;

TEST_CASE("who sleeps for a short time again and again spins longer, up to a limit") {
  Patience patience;
  CHECK(patience.ticks(kLeast) == kLeast);
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t before = patience.ticks(kLeast);
    patience.note_sleep(kLeast * Patience::kShort, kLeast);
    CHECK(patience.ticks(kLeast) == (before < kLongest ? 2 * before : kLongest));
  }
}

TEST_CASE("long sleeps bring it back to the least") {
  Patience patience;
  for (int i = 0; i < 20; ++i) patience.note_sleep(1, kLeast);
  for (int i = 0; i < Patience::kMostDoublings; ++i)
    patience.note_sleep(kLeast * Patience::kShort + 1, kLeast);
  CHECK(patience.ticks(kLeast) == kLeast);
  patience.note_sleep(1'000'000, kLeast);
  CHECK(patience.ticks(kLeast) == kLeast);
}

TEST_CASE("who must not spin never does") {
  Patience patience;
  for (int i = 0; i < 20; ++i) patience.note_sleep(0, 0);
  CHECK(patience.ticks(0) == 0);
}

}  // namespace
}  // namespace tmpi::sched
