// Cost of a rank's start. The limits are loose: this also runs on busy machines.
#include <doctest/doctest.h>
#include <malloc.h>
#include <stdio.h>

#include <algorithm>
#include <chrono>

#include "guest_copy.hpp"
#include "privatize/shim/shim.h"

TEST_CASE("starting the shim takes about a microsecond and a kilobyte") {
  const GuestCopy guest(true);
  auto* start = guest.get<void(int, char**)>("tmpi_shim_start");
  char* environment[] = {nullptr};
  constexpr int kBatches = 20, kStarts = 100;
  start(0, environment);
  const std::size_t before = mallinfo2().uordblks;
  double best = 1e9;  // of the batches: the machine may be busy with other things
  for (int batch = 0; batch < kBatches; ++batch) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kStarts; ++i) start(0, environment);
    const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - begin;
    best = std::min(best, taken.count() / kStarts);
  }
  const std::size_t bytes = (mallinfo2().uordblks - before) / (kBatches * kStarts);
  MESSAGE("start of the shim: " << best << " us, " << bytes << " bytes of heap");
  CHECK(best < 10);
  CHECK(bytes < 1500);
}
