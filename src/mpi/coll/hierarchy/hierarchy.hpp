// Hierarchy: a communicator with members in several node processes, taken apart. Its `node` part are the
// members in one process: what they do together goes through shared memory. An inter-node communicator has
// one member of each node, those that come equally far in the order of their nodes' members: what it does are
// messages between nodes. The first one is that of the node leaders. Parts look like communicators, so every
// algorithm of the selection table runs on them; nobody outside the library sees them, and making them takes
// no message.
//
//      node 0    node 1    node 2
//     rank 0 -- rank 3 -- rank 6      inter-node communicator 0: the node leaders
//     rank 1 -- rank 4 -- rank 7      inter-node communicator 1
//     rank 2    rank 5                (as many as the smallest node has members)
#pragma once

#include <memory>

#include "mpi/coll/args.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/node_map.hpp"

namespace tmpi::mpi {

/// One member's view. Used by the member's own flows of control only.
struct Hierarchy {
  explicit Hierarchy(Comm& whole);

  const NodeMap& map;  ///< ranks (of an intercommunicator: member indices) by node
  const int here;      ///< this process's number in the map
  const int index;     ///< mine among the members here, = node.rank
  Comm node;           ///< the members here
  /// My inter-node communicator; null if the smallest node has no member with my index.
  std::unique_ptr<Comm> inter_node;

  bool is_node_leader() const noexcept { return index == 0; }
  /// Members here.
  int count() const noexcept { return node.size; }
  /// For data that is at, or goes to, `rank`: the number of the inter-node communicator through which it
  /// travels. That of the rank, so that it passes nobody else; else that of the node leaders.
  int inter_node_for(int rank) const noexcept {
    const int its = map.index_of(rank);
    return its < map.fewest() ? its : 0;
  }
};

/// The calling member's; made at its first use. `comm` has members in several node processes. Does not
/// suspend.
Hierarchy& hierarchy_of(Comm& comm);

}  // namespace tmpi::mpi
