#include "sched/sharing_limit.hpp"

#include <doctest/doctest.h>

namespace tmpi::sched {
namespace {

using Way = SharingLimit::Way;

/// Copies of `bytes` on a machine where a byte takes a tick and an offer and its answer `travel` ticks: how many of them
/// were shared.
int shared_of(SharingLimit& limit, int copies, std::uint64_t bytes, std::uint64_t travel) {
  int shared = 0;
  for (int i = 0; i < copies; ++i) {
    const Way way = limit.choose(bytes);
    shared += way != Way::kAlone;
    if (way == Way::kMeasured) limit.note(bytes, bytes / 2, bytes / 2 + travel);
  }
  return shared;
}

TEST_CASE("the limit is where sharing takes as long as copying alone") {
  for (const std::uint64_t travel : {50'000U, 100'000U, 200'000U}) {
    SharingLimit limit;
    shared_of(limit, 3000, 3 * travel, travel);
    CHECK(limit.bytes() > 3 * travel / 2);
    CHECK(limit.bytes() < 3 * travel);
    CHECK(shared_of(limit, 2560, 3 * travel, travel) == 2560);
    CHECK(shared_of(limit, 2560, travel, travel) == 10);
  }
}

TEST_CASE("it follows cores that come nearer, and such that are moved apart") {
  constexpr std::uint64_t kBytes = 100'000;
  SharingLimit limit;
  for (int round = 0; round < 5; ++round) {
    shared_of(limit, 10'000, kBytes, kBytes);
    CHECK(shared_of(limit, 2560, kBytes, kBytes) == 10);
    shared_of(limit, 10'000, kBytes, kBytes / 8);
    CHECK(shared_of(limit, 2560, kBytes, kBytes / 8) == 2560);
  }
}

TEST_CASE("one that was interrupted changes little, and what is extreme is held between the limits") {
  SharingLimit limit;
  shared_of(limit, 1000, 300'000, 10'000);
  CHECK(limit.bytes() == SharingLimit::kLeast);
  limit.note(300'000, 150'000, 1'000'000'000'000);
  CHECK(limit.bytes() < 2 * SharingLimit::kLeast);
  for (int i = 0; i < 100; ++i) limit.note(SharingLimit::kLeast, 0, 1);
  CHECK(limit.bytes() == SharingLimit::kMost);
  CHECK(limit.choose(SharingLimit::kMost) != Way::kAlone);
}

}  // namespace
}  // namespace tmpi::sched
