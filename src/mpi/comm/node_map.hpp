// NodeMap: the members of a group by the node process they live in. The same in all processes. Nodes are
// counted in the order of their first members; a member is named by its rank in the group. MPI knows nothing
// of it; collectives do, and what makes communicators.
#pragma once

#include <span>
#include <vector>

#include "mpi/comm/group.hpp"

namespace tmpi::mpi {

class NodeMap {
 public:
  /// O(members).
  explicit NodeMap(const Group& group);

  int nodes() const noexcept { return static_cast<int>(starts_.size()) - 1; }
  /// This process's number among the nodes; -1: no member lives here.
  int mine() const noexcept { return mine_; }

  /// Members on a node, ascending; the first one is the node's leader.
  std::span<const int> members(int node) const noexcept {
    return std::span(members_).subspan(start(node), start(node + 1) - start(node));
  }
  int leader(int node) const noexcept { return members_[start(node)]; }
  int count(int node) const noexcept { return static_cast<int>(start(node + 1) - start(node)); }

  int node_of(int member) const noexcept { return places_[static_cast<std::size_t>(member)].node; }
  /// Which one of its node's members a member is.
  int index_of(int member) const noexcept { return places_[static_cast<std::size_t>(member)].index; }

  int fewest() const noexcept { return fewest_; }  ///< members on a node, at least
  int most() const noexcept { return most_; }
  /// Each node's members are neighbours in rank order.
  bool contiguous() const noexcept { return contiguous_; }

 private:
  struct Place {
    int node;
    int index;
  };
  std::size_t start(int node) const noexcept { return starts_[static_cast<std::size_t>(node)]; }

  std::vector<std::size_t> starts_;  // of each node in members_; one more for the end
  std::vector<int> members_;
  std::vector<Place> places_;  // by member
  int mine_ = -1;
  int fewest_ = 0;
  int most_ = 0;
  bool contiguous_ = true;
};

/// Node processes that members of the group live in, counted no further than 2.
int nodes_up_to_two(const Group& group) noexcept;

}  // namespace tmpi::mpi
