#include "launch/plan/mapping.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

namespace tmpi::launch {
namespace {

using Numbers = std::vector<int>;

Numbers counts(const Numbers& node_of, std::size_t nodes) {
  Numbers all(nodes, 0);
  for (const int node : node_of) ++all[static_cast<std::size_t>(node)];
  return all;
}

TEST_CASE("blocks") {
  CHECK(map_ranks(5, {1, 1}, MapBy::kBlock) == Numbers{0, 0, 0, 1, 1});
  CHECK(map_ranks(8, {1, 1, 1}, MapBy::kBlock) == Numbers{0, 0, 0, 1, 1, 1, 2, 2});
  CHECK(map_ranks(2, {1, 1}, MapBy::kBlock) == Numbers{0, 1});
  CHECK(map_ranks(5, {4, 1}, MapBy::kBlock) == Numbers{0, 0, 0, 0, 1});
  CHECK(map_ranks(3, {4, 1}, MapBy::kBlock) == Numbers{0, 0, 0});
  CHECK(counts(map_ranks(10, {4, 1}, MapBy::kBlock), 2) == Numbers{8, 2});
}

TEST_CASE("round-robin") {
  CHECK(map_ranks(5, {1, 1}, MapBy::kCyclic) == Numbers{0, 1, 0, 1, 0});
  CHECK(map_ranks(5, {4, 1}, MapBy::kCyclic) == Numbers{0, 1, 0, 0, 0});
  CHECK(map_ranks(10, {4, 1}, MapBy::kCyclic) == Numbers{0, 1, 0, 0, 0, 0, 1, 0, 0, 0});
  CHECK(map_ranks(1, {1, 1, 1}, MapBy::kCyclic) == Numbers{0});
}

TEST_CASE("every rank has a place, in proportion to the slots") {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    Numbers slots(1 + random() % 9);
    int total = 0;
    for (int& count : slots) total += count = 1 + static_cast<int>(random() % 12);
    const int ranks = 1 + static_cast<int>(random() % 300);
    for (const MapBy by : {MapBy::kBlock, MapBy::kCyclic}) {
      const Numbers node_of = map_ranks(ranks, slots, by);
      REQUIRE(node_of.size() == static_cast<std::size_t>(ranks));
      if (by == MapBy::kBlock) REQUIRE(std::ranges::is_sorted(node_of));
      const Numbers all = counts(node_of, slots.size());
      for (std::size_t node = 0; node < slots.size(); ++node) {
        if (ranks <= total) REQUIRE(all[node] <= slots[node]);
        if (ranks >= total) REQUIRE(all[node] >= slots[node]);
        if (by == MapBy::kBlock && ranks > total) {
          const double part = static_cast<double>(ranks) * slots[node] / total;
          REQUIRE(std::abs(all[node] - part) < 1);
        }
      }
    }
  }
}

TEST_CASE("a million ranks on a thousand node processes") {
  const Numbers all = counts(map_ranks(1'000'000, Numbers(1000, 1), MapBy::kBlock), 1000);
  CHECK(std::ranges::all_of(all, [](int count) { return count == 1000; }));
}

}  // namespace
}  // namespace tmpi::launch
