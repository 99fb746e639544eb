// MPI_Dims_create against a search through all factorizations, and the arithmetic of grids.
#include <doctest/doctest.h>

#include <algorithm>

#include "mpi/topo/cart.hpp"

namespace tmpi::mpi {
namespace {

// The lexicographically smallest non-increasing factorization of n.
void search(int n, int k, int most, std::vector<int>& prefix, std::vector<int>& best) {
  if (k == 0) {
    if (n == 1 && (best.empty() || prefix < best)) best = prefix;
    return;
  }
  for (int d = 1; d <= std::min(n, most); ++d) {
    if (n % d != 0) continue;
    prefix.push_back(d);
    search(n / d, k - 1, d, prefix, best);
    prefix.pop_back();
  }
}

TEST_CASE("dimensions are as close to each other as can be") {
  for (int k = 1; k <= 4; ++k) {
    for (int n = 1; n <= 200; ++n) {
      std::vector<int> dims(static_cast<std::size_t>(k)), prefix, best;
      search(n, k, n, prefix, best);
      REQUIRE(!fill_dims(n, k, dims.data()));
      REQUIRE_MESSAGE(dims == best, n, " in ", k, " dimensions");
    }
  }
  int large[3] = {};
  REQUIRE(!fill_dims(1 << 30, 3, large));
  CHECK(large[0] == 1024);
  CHECK(large[2] == 1024);
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
