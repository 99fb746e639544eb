// Cycles of waiting ranks, and the words for where a rank is blocked.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "mpi/comm/context.hpp"
#include "mpi/diagnose/deadlock.hpp"
#include "mpi/diagnose/place.hpp"

namespace tmpi::mpi {
namespace {

using Graph = std::vector<std::vector<int>>;

// Each waits for the next, the last for the first.
bool is_cycle(const Graph& graph, const std::vector<int>& cycle) {
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const auto& out = graph[static_cast<std::size_t>(cycle[i])];
    if (std::ranges::find(out, cycle[(i + 1) % cycle.size()]) == out.end()) return false;
  }
  return !cycle.empty();
}

// By repeated removal of vertices that wait for nobody.
bool has_cycle(Graph graph) {
  std::vector<bool> gone(graph.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < graph.size(); ++i) {
      if (gone[i]) continue;
      bool waits = false;
      for (int other : graph[i]) waits |= !gone[static_cast<std::size_t>(other)];
      if (!waits) gone[i] = changed = true;
    }
  }
  return std::ranges::find(gone, false) != gone.end();
}

TEST_CASE("cycles") {
  CHECK(find_cycle({}).empty());
  CHECK(find_cycle({{1}, {2}, {}}).empty());
  CHECK(find_cycle({{0}}) == std::vector<int>{0});
  CHECK(find_cycle({{1}, {0}}).size() == 2);
  // A long way in, a short cycle.
  const Graph tail = {{1}, {2}, {3}, {4, 2}, {}};
  CHECK(is_cycle(tail, find_cycle(tail)));
  CHECK(find_cycle(tail).size() == 2);
}

TEST_CASE("random graphs: a cycle is found exactly if there is one") {
  std::mt19937 random(5);
  int with = 0;
  for (int round = 0; round < 2000; ++round) {
    const int n = 1 + static_cast<int>(random() % 12);
    Graph graph(static_cast<std::size_t>(n));
    for (auto& out : graph) {
      for (int edges = static_cast<int>(random() % 3); edges > 0; --edges)
        out.push_back(static_cast<int>(random() % static_cast<unsigned>(n)));
    }
    const std::vector<int> cycle = find_cycle(graph);
    CHECK(cycle.empty() != has_cycle(graph));
    if (!cycle.empty()) {
      CHECK(is_cycle(graph, cycle));
      ++with;
    }
  }
  CHECK(with > 200);
}

TEST_CASE("communicators are named") {
  CHECK(name_of_context(kWorldContext) == "MPI_COMM_WORLD");
  CHECK(name_of_context(kWorldContext | kCollective) == "MPI_COMM_WORLD");
  CHECK(name_of_context(kSelfContext) == "MPI_COMM_SELF");
  CHECK(name_of_context(context_id(3, 2)) == "communicator 3.2 (made by rank 3)");
  CHECK(name_of_context(context_id(0, 7) | kCollective) == "communicator 0.7 (made by rank 0)");
  CHECK(name_of_context(shadow_context(part_context(kWorldContext, PartKind::kInterNode), 4) | kCollective) ==
        "MPI_COMM_WORLD");
  CHECK(name_of_context(named_context("x") | kCollective) == "a communicator in the making");
}

}  // namespace
}  // namespace tmpi::mpi
