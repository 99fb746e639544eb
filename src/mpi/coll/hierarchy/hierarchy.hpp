// Hierarchy: a communicator with members in several node processes, taken apart. Its `node` part are the
// members in one process: what they do together goes through shared memory. A `column` has one member of
// each node, those who come equally far in the order of their nodes' members: what columns do together are
// messages between nodes. The first column is that of the nodes' heads. Parts look like communicators, so
// every row of the selection table runs on them; nobody outside the library sees them, and making them takes
// no message.
//
//      node 0    node 1    node 2
//     rank 0 -- rank 3 -- rank 6      column 0: the heads
//     rank 1 -- rank 4 -- rank 7      column 1
//     rank 2    rank 5                (as many columns as the smallest node has members)
#pragma once

#include <memory>

#include "mpi/coll/args.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/node_map.hpp"

namespace tmpi::mpi {

/// One member's view. Used by the member's own flows of control only.
struct Hierarchy {
  explicit Hierarchy(Comm& whole);

  const NodeMap& map;            ///< ranks (of an intercommunicator: seats) by node
  const int here;                ///< this process's number in the map
  const int index;               ///< mine among the members here, = node.rank
  Comm node;                     ///< the members here
  std::unique_ptr<Comm> column;  ///< my column; null if the smallest node has no member with my index

  bool is_head() const noexcept { return index == 0; }
  /// Members here.
  int count() const noexcept { return node.size; }
  /// For data that is at, or goes to, `rank`: the column through which it travels between the nodes. That of
  /// the rank, so that it passes nobody else; else that of the heads.
  int column_for(int rank) const noexcept {
    const int its = map.index_of(rank);
    return its < map.fewest() ? its : 0;
  }
};

/// The calling member's; made at its first use. `comm` has members in several node processes. Does not
/// suspend.
Hierarchy& hierarchy_of(Comm& comm);

}  // namespace tmpi::mpi
