// What all ways of making communicators have in common: the parts that one member makes for all, and each
// member's own Comm from them. Internal to comm/.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "mpi/comm/comm.hpp"
#include "mpi/create/agreement.hpp"

namespace tmpi::mpi {

/// What a member is given of a communicator that has been made. No `shared`: it belongs to none. As a record
/// of an agreement: of a member that asks for nothing in particular.
struct Parts {
  std::shared_ptr<CommShared> shared;
  std::shared_ptr<CommShared> local;  ///< of an intercommunicator: the local group's intracommunicator
  std::shared_ptr<const Topology> topology;
  void pack(Packer&) const {}
  void unpack(Unpacker&) {}
};

/// An intracommunicator of `group`: takes one id. O(1). Does not suspend.
Parts make_intra(std::shared_ptr<const Group> group, ContextSource& contexts);

/// An intercommunicator of two disjoint groups before it is made.
struct Sides {
  static constexpr int kContexts = 3;
  std::shared_ptr<const Group> first;
  std::shared_ptr<const Group> second;
  ContextId context = 0;
  ContextId locals[2] = {};  ///< of each side's intracommunicator
};
Sides sides_with(std::shared_ptr<const Group> first, std::shared_ptr<const Group> second,
                 ContextSource& contexts);
/// Each side's part, for one member to give to all others of this process. O(n log n). Does not suspend.
std::array<Parts, 2> make_sides(const Sides& sides);
/// The part of side 0 or 1, where no member gives it to the others: each member of both sides in this process
/// calls this once. Does not suspend.
Parts take_side(const Sides& sides, int side);

/// The rank's communicator; null if the parts are none. Inherits `errhandler` (null: the default).
Comm* make_comm(Rank& owner, Parts parts, Errhandler* errhandler);
/// The same of a parent's owner, with the parent's error handler and session.
Comm* make_child(Comm& parent, Parts parts);
/// The same into a Comm that exists (MPI_Comm_idup names it before it is made).
void fill_comm(Comm& comm, Rank& owner, Parts parts, Errhandler* errhandler);

/// What a member brings to the making of communicators (and takes away: its Parts). On its stack.
struct Order : Parts {
  int color = MPI_UNDEFINED;
  int key = 0;
  std::shared_ptr<const Group> group;
  std::vector<int> levels;  ///< colors to choose from (split_by_level)
  int level = -1;           ///< which of them was chosen
  void pack(Packer& packer) const;
  void unpack(Unpacker& unpacker);
};

/// The groups of both sides of a communicator; of an intracommunicator the second is null.
std::array<std::shared_ptr<const Group>, 2> sides_of(const Comm& comm);

/// Gives all members their parts of a duplicate of `parent`; parts[member index], as in agreements. Takes
/// dup_demand() ids.
void fulfil_dup(const Comm& parent, Parts** parts, ContextSource& contexts);
inline ContextDemand dup_demand(const Comm& parent) noexcept {
  return {.in_all = parent.inter() ? Sides::kContexts : 1};
}

}  // namespace tmpi::mpi
