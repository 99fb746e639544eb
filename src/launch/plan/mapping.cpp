#include "launch/plan/mapping.hpp"

#include <algorithm>
#include <numeric>

namespace tmpi::launch {
namespace {

std::int64_t sum_of(const std::vector<int>& slots) {
  return std::accumulate(slots.begin(), slots.end(), std::int64_t{0});
}

// The first node processes round up, so that equal slots give blocks that differ by at most one, the larger
// ones first.
std::vector<int> blocks(int ranks, const std::vector<int>& slots) {
  const std::int64_t total = sum_of(slots);
  std::vector<int> node_of;
  node_of.reserve(static_cast<std::size_t>(ranks));
  std::int64_t before = 0;
  for (std::size_t node = 0; node < slots.size(); ++node) {
    before += slots[node];
    const std::int64_t end = ranks <= total ? std::min<std::int64_t>(before, ranks)
                                            : (static_cast<std::int64_t>(ranks) * before + total - 1) / total;
    node_of.resize(static_cast<std::size_t>(end), static_cast<int>(node));
  }
  return node_of;
}

// All slots are filled before any is filled for the second time.
std::vector<int> round_robin(int ranks, const std::vector<int>& slots) {
  const auto wanted = static_cast<std::size_t>(ranks);
  std::vector<int> node_of;
  node_of.reserve(wanted);
  while (node_of.size() < wanted) {
    std::vector<int> room = slots;
    for (std::int64_t left = sum_of(slots); left > 0 && node_of.size() < wanted;) {
      for (std::size_t node = 0; node < slots.size() && node_of.size() < wanted; ++node) {
        if (room[node] == 0) continue;
        --room[node];
        --left;
        node_of.push_back(static_cast<int>(node));
      }
    }
  }
  return node_of;
}

}  // namespace

std::vector<int> map_ranks(int ranks, const std::vector<int>& slots, MapBy by) {
  return by == MapBy::kBlock ? blocks(ranks, slots) : round_robin(ranks, slots);
}

}  // namespace tmpi::launch
