// MPI_Dims_create against a search through all factorizations, and the arithmetic of grids.
#include <doctest/doctest.h>

#include <algorithm>

#include "mpi/topo/cart.hpp"

namespace tmpi::mpi {
namespace {

// What makes a factorization a close one, the most important first: the spread, the smallest factor (the larger the
// better), and the same of what lies between.
std::vector<int> closeness(const std::vector<int>& factors) {
  std::vector<int> key;
  for (std::size_t first = 0, last = factors.size() - 1; first < last; ++first, --last) {
    key.push_back(factors[first] - factors[last]);
    key.push_back(-factors[last]);
  }
  return key;
}

// The closest non-increasing factorization of n, among all of them.
void search(int n, int k, int most, std::vector<int>& prefix, std::vector<int>& best) {
  if (k == 0) {
    if (n == 1 && (best.empty() || closeness(prefix) < closeness(best))) best = prefix;
    return;
  }
  for (int d = 1; d <= std::min(n, most); ++d) {
    if (n % d != 0) continue;
    prefix.push_back(d);
    search(n / d, k - 1, d, prefix, best);
    prefix.pop_back();
  }
}

void check_against_search(int n, int k) {
  std::vector<int> dims(static_cast<std::size_t>(k)), prefix, best;
  search(n, k, n, prefix, best);
  REQUIRE(!fill_dims(n, k, dims.data()));
  REQUIRE_MESSAGE(dims == best, n, " in ", k, " dimensions");
}

std::vector<int> filled(int n, int k) {
  std::vector<int> dims(static_cast<std::size_t>(k));
  REQUIRE(!fill_dims(n, k, dims.data()));
  return dims;
}

TEST_CASE("dimensions are as close to each other as can be") {
  for (int k = 1; k <= 4; ++k) {
    for (int n = 1; n <= 200; ++n) check_against_search(n, k);
  }
  // Many divisors, where the largest factor is not the smallest possible one, or several are equally close.
  for (const int n : {360, 2160, 2520, 3240, 3696, 5040, 7488, 18000, 19800, 34425}) {
    for (int k = 2; k <= 5; ++k) check_against_search(n, k);
  }
  CHECK(filled(34425, 3) == std::vector<int>{51, 27, 25});  // not 45 x 45 x 17
  CHECK(filled(7488, 3) == std::vector<int>{26, 18, 16});   // not 24 x 24 x 13
  CHECK(filled(360, 3) == std::vector<int>{10, 6, 6});      // not 9 x 8 x 5, as far apart
}

TEST_CASE("large numbers do not take long") {
  CHECK(filled(1 << 30, 3) == std::vector<int>{1024, 1024, 1024});
  CHECK(filled(1396755360, 6) == std::vector<int>{39, 38, 34, 33, 30, 28});  // 1536 divisors
  CHECK(filled(735134400, 8) == std::vector<int>{17, 15, 14, 13, 12, 12, 11, 10});
  CHECK(filled(2147483647, 3) == std::vector<int>{2147483647, 1, 1});
  CHECK(filled(6, 40).size() == 40);
}

TEST_CASE("given dimensions are kept") {
  int dims[3] = {0, 3, 0};
  REQUIRE(!fill_dims(24, 3, dims));
  CHECK(std::vector<int>(dims, dims + 3) == std::vector<int>{4, 3, 2});
  int wrong[2] = {0, 5}, full[2] = {2, 3}, negative[1] = {-1};
  CHECK(fill_dims(12, 2, wrong).error_class() == MPI_ERR_DIMS);
  CHECK(fill_dims(12, 2, full).error_class() == MPI_ERR_DIMS);
  CHECK(!fill_dims(6, 2, full));
  CHECK(fill_dims(12, 1, negative).error_class() == MPI_ERR_DIMS);
}

TEST_CASE("grids are row-major; rings close, open ends lead to MPI_PROC_NULL") {
  Grid grid;
  grid.dims = {3, 4};
  grid.periods = {0, 1};
  for (int rank = 0; rank < 12; ++rank) {
    int coords[2];
    grid.coords_of(rank, coords);
    CHECK(coords[0] == rank / 4);
    CHECK(coords[1] == rank % 4);
    CHECK(grid.rank_of(coords) == rank);
  }
  int source, dest;
  shift(grid, 1, 0, 1, source, dest);
  CHECK(source == MPI_PROC_NULL);
  CHECK(dest == 5);
  shift(grid, 4, 1, -1, source, dest);
  CHECK(source == 5);
  CHECK(dest == 7);
  shift(grid, 4, 1, 9, source, dest);
  CHECK(source == 7);
  CHECK(dest == 5);
}

}  // namespace
}  // namespace tmpi::mpi
