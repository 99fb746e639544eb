// Which members of a group live where.
#include "mpi/comm/node_map.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "mpi/rank/rank.hpp"

namespace tmpi::mpi {
namespace {

// A job with these nodes of its ranks, seen from node `mine`.
void create_job(std::vector<int> node_of, int nodes, int mine) {
  Job::create(
      Placement(std::move(node_of), std::vector<std::string>(static_cast<std::size_t>(nodes), "here"), mine));
}

std::vector<int> members(const NodeMap& map, int node) {
  return {map.members(node).begin(), map.members(node).end()};
}

TEST_CASE("nodes are counted in the order of their first members") {
  create_job({0, 1, 2, 0, 1, 2, 0}, 3, 2);
  const NodeMap map(*Group::list({5, 4, 1, 2}));  // on nodes 2, 1, 1, 2
  CHECK(map.nodes() == 2);
  CHECK(map.mine() == 0);
  CHECK(members(map, 0) == std::vector{0, 3});
  CHECK(members(map, 1) == std::vector{1, 2});
  CHECK(map.leader(1) == 1);
  CHECK(map.node_of(3) == 0);
  CHECK(map.index_of(3) == 1);
  CHECK(map.fewest() == 2);
  CHECK(map.most() == 2);
  CHECK_FALSE(map.contiguous());
}

TEST_CASE("neighbours, uneven nodes, nodes without members") {
  create_job({0, 0, 0, 1, 1, 3, 3}, 4, 2);
  const NodeMap map(*Group::range(0, 7));
  CHECK(map.nodes() == 3);
  CHECK(map.mine() == -1);
  CHECK(map.contiguous());
  CHECK(map.fewest() == 2);
  CHECK(map.most() == 3);
  CHECK(members(map, 2) == std::vector{5, 6});
  CHECK(nodes_up_to_two(*Group::range(0, 7)) == 2);
  CHECK(nodes_up_to_two(*Group::range(3, 2)) == 1);
  CHECK(nodes_up_to_two(*Group::empty()) == 1);
}

TEST_CASE("one node process") {
  Job::create(Placement(5));
  const NodeMap map(*Group::range(1, 3));
  CHECK(map.nodes() == 1);
  CHECK(map.mine() == 0);
  CHECK(map.count(0) == 3);
  CHECK(map.contiguous());
}

}  // namespace
}  // namespace tmpi::mpi
