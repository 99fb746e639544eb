#include "mpi/comm/group.hpp"

#include <algorithm>

#include "mpi.h"

namespace tmpi::mpi {

std::shared_ptr<const Group> Group::range(int first, int count, int stride) {
  auto group = std::make_shared<Group>();
  group->first_ = first;
  group->stride_ = stride;
  group->size_ = count;
  return group;
}

const std::shared_ptr<const Group>& Group::empty() {
  static const std::shared_ptr<const Group> nobody = range(0, 0);
  return nobody;
}

namespace {

// The stride if the list is an arithmetic sequence, else 0. A list of one is a range.
int common_stride(const std::vector<int>& ranks) {
  if (ranks.size() < 2) return 1;
  const int stride = ranks[1] - ranks[0];
  for (std::size_t i = 2; i < ranks.size(); ++i) {
    if (ranks[i] - ranks[i - 1] != stride) return 0;
  }
  return stride;
}

}  // namespace

std::shared_ptr<const Group> Group::list(std::vector<int> world_ranks) {
  if (world_ranks.empty()) return empty();
  const int size = static_cast<int>(world_ranks.size());
  if (const int stride = common_stride(world_ranks); stride != 0) return range(world_ranks[0], size, stride);
  auto group = std::make_shared<Group>();
  group->size_ = size;
  group->members_ = std::move(world_ranks);
  group->by_world_.reserve(group->members_.size());
  for (int rank = 0; rank < size; ++rank) group->by_world_.emplace_back(group->members_[rank], rank);
  std::sort(group->by_world_.begin(), group->by_world_.end());
  return group;
}

int Group::rank_of(int world_rank) const noexcept {
  if (members_.empty()) {
    if (size_ == 0 || (world_rank - first_) % stride_ != 0) return MPI_UNDEFINED;
    const int rank = (world_rank - first_) / stride_;
    return rank >= 0 && rank < size_ ? rank : MPI_UNDEFINED;
  }
  const auto found = std::lower_bound(by_world_.begin(), by_world_.end(), std::pair(world_rank, 0));
  return found != by_world_.end() && found->first == world_rank ? found->second : MPI_UNDEFINED;
}

}  // namespace tmpi::mpi
