#include "mpi/comm/node_map.hpp"

#include <algorithm>

#include "mpi/base/placement.hpp"

namespace tmpi::mpi {

NodeMap::NodeMap(const Group& group) {
  const Placement& job = placement();
  std::vector<int> number(static_cast<std::size_t>(job.all_nodes()), -1);  // by node of the job
  std::vector<std::size_t> counts;
  const int size = group.size();
  places_.reserve(static_cast<std::size_t>(size));
  for (int member = 0; member < size; ++member) {
    int& node = number[static_cast<std::size_t>(job.node_of(group.world_rank(member)))];
    if (node < 0) {
      node = static_cast<int>(counts.size());
      counts.push_back(0);
    }
    places_.push_back({node, static_cast<int>(counts[static_cast<std::size_t>(node)]++)});
    contiguous_ = contiguous_ && node == static_cast<int>(counts.size()) - 1;
  }
  starts_.push_back(0);
  for (const std::size_t count : counts) starts_.push_back(starts_.back() + count);
  members_.resize(static_cast<std::size_t>(size));
  for (int member = 0; member < size; ++member) {
    const Place place = places_[static_cast<std::size_t>(member)];
    members_[start(place.node) + static_cast<std::size_t>(place.index)] = member;
  }
  mine_ = number[static_cast<std::size_t>(job.node())];
  if (counts.empty()) return;
  fewest_ = static_cast<int>(*std::ranges::min_element(counts));
  most_ = static_cast<int>(*std::ranges::max_element(counts));
}

int nodes_up_to_two(const Group& group) noexcept {
  const Placement& job = placement();
  if (job.all_nodes() == 1 || group.size() == 0) return 1;
  const int first = job.node_of(group.world_rank(0));
  for (int member = 1; member < group.size(); ++member) {
    if (job.node_of(group.world_rank(member)) != first) return 2;
  }
  return 1;
}

}  // namespace tmpi::mpi
