// What all ways of making communicators have in common: the parts that one member makes for all, and each
// member's own Comm from them. Internal to comm/.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "mpi/comm/comm.hpp"

namespace tmpi::mpi {

/// What a member is given of a communicator that has been made. No `shared`: it belongs to none.
struct Parts {
  std::shared_ptr<CommShared> shared;
  std::shared_ptr<CommShared> local;  ///< of an intercommunicator: the local group's intracommunicator
  std::shared_ptr<const Topology> topology;
};

/// An intracommunicator of `group`; an intercommunicator of two disjoint groups, each side's part. Any rank.
/// O(1), resp. O(n log n). Do not suspend.
Parts make_intra(std::shared_ptr<const Group> group);
std::array<Parts, 2> make_sides(const std::shared_ptr<const Group>& first,
                                const std::shared_ptr<const Group>& second);

/// The rank's communicator; null if the parts are none. Inherits `errhandler` (null: the default).
Comm* make_comm(Rank& owner, Parts parts, Errhandler* errhandler);
/// The same into a Comm that exists (MPI_Comm_idup names it before it is made).
void fill_comm(Comm& comm, Rank& owner, Parts parts, Errhandler* errhandler);

/// What a member brings to the making of communicators (and takes away: its Parts). On its stack, or in its
/// request.
struct Order : Parts {
  int color = MPI_UNDEFINED;
  int key = 0;
  std::shared_ptr<const Group> group;
  const std::vector<int>* levels = nullptr;  ///< colors to choose from (split_by_level)
  int level = -1;                            ///< which of them was chosen
};

/// The groups of both sides of a communicator; of an intracommunicator the second is null.
std::array<std::shared_ptr<const Group>, 2> sides_of(const Comm& comm);

/// Gives all members their parts of a duplicate of `parent`. orders[seat], as in meetings of all members.
void fulfil_dup(const Comm& parent, Order** orders);

}  // namespace tmpi::mpi
