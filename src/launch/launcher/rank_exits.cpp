#include "launch/launcher/rank_exits.hpp"

#include <algorithm>
#include <utility>

#include "launch/wire/rank_ranges.hpp"

namespace tmpi::launch {

void RankExits::ended(int rank, int code, bool used_mpi) {
  ended_[static_cast<std::size_t>(rank)] = true;
  if (!used_mpi && !before_init_) before_init_ = Leaver{rank, code};
  if (code == 0) return;
  if (failed_.ranks++ > 0) return;
  failed_.first = rank;
  failed_.code = code;
}

void RankExits::uses_mpi(int node) {
  nodes_with_mpi_.push_back(node);
}

std::optional<RankExits::Leaver> RankExits::broken_rule() const {
  if (!before_init_) return std::nullopt;
  const int home = node_of_[static_cast<std::size_t>(before_init_->rank)];
  const bool elsewhere = std::ranges::any_of(nodes_with_mpi_, [&](int node) { return node != home; });
  return elsewhere ? before_init_ : std::nullopt;
}

std::string RankExits::unfinished_on(int node) const {
  std::vector<std::pair<int, int>> ranges;
  for (std::size_t rank = 0; rank < ended_.size(); ++rank) {
    if (node_of_[rank] == node && !ended_[rank]) ranges.emplace_back(static_cast<int>(rank), 1);
  }
  return rank_ranges(ranges);
}

}  // namespace tmpi::launch
