#include "launch/node/layout.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace tmpi::launch {
namespace {

std::vector<int> block_sizes(const Layout& layout) {
  std::vector<int> sizes(static_cast<std::size_t>(layout.workers), 0);
  int previous = 0;
  for (int rank = 0; rank < layout.ranks; ++rank) {
    const int worker = layout.worker_of(rank);
    REQUIRE(worker >= previous);  // blocks of neighbours
    REQUIRE(worker < layout.workers);
    previous = worker;
    ++sizes[static_cast<std::size_t>(worker)];
  }
  return sizes;
}

TEST_CASE("without wishes all cores work, evenly") {
  CHECK(block_sizes(plan_layout(5, 4, 0, 0)) == std::vector<int>{2, 1, 1, 1});
  CHECK(block_sizes(plan_layout(3, 8, 0, 0)) == std::vector<int>{1, 1, 1});
  CHECK(block_sizes(plan_layout(64, 2, 0, 0)) == std::vector<int>{32, 32});
  CHECK(plan_layout(5, 4, 0, 0).vratio == 2);
}

TEST_CASE("V ranks per worker when V is given") {
  CHECK(block_sizes(plan_layout(64, 2, 3, 0)).size() == 22);
  CHECK(block_sizes(plan_layout(7, 2, 3, 0)) == std::vector<int>{3, 3, 1});
  CHECK(block_sizes(plan_layout(2, 2, 9, 0)) == std::vector<int>{2});
  CHECK(block_sizes(plan_layout(7, 2, 3, 5)) == std::vector<int>{3, 3, 1});
}

TEST_CASE("every number of workers is filled") {
  for (int ranks = 1; ranks <= 40; ++ranks) {
    for (int workers = 1; workers <= 12; ++workers) {
      const Layout layout = plan_layout(ranks, 2, 0, workers);
      const std::vector<int> sizes = block_sizes(layout);
      CHECK(std::ranges::min(sizes) >= 1);
      CHECK(std::ranges::max(sizes) == layout.vratio);
    }
  }
}

TEST_CASE("workers that share cores are worth a warning") {
  CHECK(oversubscription_warning(plan_layout(8, 2, 4, 0), 2).empty());
  CHECK(oversubscription_warning(plan_layout(8, 2, 2, 0), 2).starts_with("4 workers share 2 cores"));
  CHECK(oversubscription_warning(plan_layout(4, 2, 2, 0), 4, 2).empty());
  CHECK(oversubscription_warning(plan_layout(8, 2, 2, 0), 4, 2)
            .starts_with("4 workers of 2 cores each share 4"));
}

TEST_CASE("cores that the user has chosen have a worker each") {
  const Layout layout = plan_layout_on({3, 0, 3, 7, 3});
  CHECK(layout.ranks == 5);
  CHECK(layout.workers == 3);
  CHECK(layout.vratio == 3);
  const std::vector<int> workers{1, 0, 1, 2, 1};
  for (int rank = 0; rank < 5; ++rank)
    CHECK(layout.worker_of(rank) == workers[static_cast<std::size_t>(rank)]);
}

}  // namespace
}  // namespace tmpi::launch
