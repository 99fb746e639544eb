// neighbours(): the standard's order, open ends, rings of one and two, graphs.
#include <doctest/doctest.h>

#include "mpi/topo/cart.hpp"
#include "mpi/topo/graph.hpp"

using namespace tmpi::mpi;

namespace {

Grid grid(std::vector<int> dims, std::vector<int> periods) {
  Grid result;
  result.dims = std::move(dims);
  result.periods = std::move(periods);
  return result;
}

std::vector<int> both_ways(const Topology& topology, int rank) {
  Neighbours result;
  topology.neighbours(rank, result);
  CHECK(result.sources == result.destinations);
  return result.sources;
}

constexpr int kNone = MPI_PROC_NULL;

}  // namespace

TEST_CASE("a grid's neighbours: for each dimension down, then up") {
  const Grid open = grid({2, 3}, {0, 0});
  CHECK(both_ways(open, 0) == std::vector{kNone, 3, kNone, 1});
  CHECK(both_ways(open, 4) == std::vector{1, kNone, 3, 5});
  const Grid closed = grid({3, 4}, {1, 1});
  CHECK(both_ways(closed, 0) == std::vector{8, 4, 3, 1});
  CHECK(both_ways(closed, 11) == std::vector{7, 3, 10, 8});
}

TEST_CASE("rings of one and two ranks name a neighbour twice") {
  CHECK(both_ways(grid({1}, {1}), 0) == std::vector{0, 0});
  CHECK(both_ways(grid({1}, {0}), 0) == std::vector{kNone, kNone});
  CHECK(both_ways(grid({2}, {1}), 0) == std::vector{1, 1});
  CHECK(both_ways(grid({2}, {0}), 1) == std::vector{0, kNone});
  CHECK(both_ways(grid({}, {}), 0).empty());
}

TEST_CASE("every neighbour of a grid knows the rank in the opposite place") {
  const Grid shape = grid({3, 2, 4}, {1, 0, 1});
  for (int rank = 0; rank < 24; ++rank) {
    const std::vector<int> mine = both_ways(shape, rank);
    REQUIRE(mine.size() == 6);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      if (mine[i] != kNone) CHECK(both_ways(shape, mine[i])[i ^ 1] == rank);
    }
  }
}

TEST_CASE("a graph's neighbours are those of its lists, both ways") {
  Graph graph;
  graph.index = {2, 2, 5};
  graph.edges = {1, 2, 0, 0, 2};
  CHECK(both_ways(graph, 0) == std::vector{1, 2});
  CHECK(both_ways(graph, 1).empty());
  CHECK(both_ways(graph, 2) == std::vector{0, 0, 2});
}

TEST_CASE("a distributed graph's neighbours are the rank's own edges") {
  DistGraph graph;
  graph.sources = {4, 4, 1};
  graph.destinations = {3};
  Neighbours result;
  graph.neighbours(7, result);
  CHECK(result.sources == graph.sources);
  CHECK(result.destinations == graph.destinations);
}

TEST_CASE("a communicator without a topology has no neighbours") {
  Comm comm;
  const Neighbours* result = nullptr;
  CHECK(neighbours(comm, result).error_class() == MPI_ERR_TOPOLOGY);
  comm.topology = std::make_shared<const Grid>(grid({2}, {1}));
  comm.rank = 1;
  CHECK_FALSE(static_cast<bool>(neighbours(comm, result)));
  CHECK(result->sources == std::vector{0, 0});
}
