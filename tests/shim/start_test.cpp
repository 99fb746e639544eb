// Cost of a rank's start. What it takes of the memory holds anywhere; what it takes of the time is a claim of
// the suite "timing".
#include <doctest/doctest.h>
#include <malloc.h>
#include <stdio.h>

#include <algorithm>
#include <chrono>

#include "guest_copy.hpp"
#include "privatize/shim/shim.h"

namespace {

constexpr int kStarts = 100;

// Starts the shim of a rank kStarts times; microseconds for each.
double start_often(const GuestCopy& guest) {
  auto* start = guest.get<void(int, char**)>("tmpi_shim_start");
  char* environment[] = {nullptr};
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kStarts; ++i) start(0, environment);
  const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - begin;
  return taken.count() / kStarts;
}

}  // namespace

TEST_CASE("starting the shim takes about a kilobyte") {
  const GuestCopy guest(true);
  start_often(guest);
  const std::size_t before = mallinfo2().uordblks;
  start_often(guest);
  const std::size_t bytes = (mallinfo2().uordblks - before) / kStarts;
  MESSAGE("start of the shim: " << bytes << " bytes of heap");
  CHECK(bytes < 1500);
}

TEST_CASE("starting the shim takes about a microsecond" * doctest::test_suite("timing")) {
  const GuestCopy guest(true);
  double best = 1e9;  // of a few batches
  for (int batch = 0; batch < 20; ++batch) best = std::min(best, start_often(guest));
  MESSAGE("start of the shim: " << best << " us");
  CHECK(best < 10);
}
