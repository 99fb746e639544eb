// Making communicators. MPI report, 7.4.2. All members of `parent` come together (coll/meeting.hpp); the last
// one makes what the members of each new communicator share, all of them at once in O(n log n); each member
// then makes its own Comm. Arguments have been checked. Error handlers are inherited, names are not. A member
// that does not belong to a new communicator gets null. All SUSPEND.
#pragma once

#include <functional>
#include <memory>

#include "mpi/comm/comm.hpp"

namespace tmpi::mpi {

/// MPI_Comm_dup: same group and topology, other context.
Err duplicate(Comm& parent, Comm*& created);

/// MPI_Comm_split: members of one color, ordered by key and rank in `parent`; color MPI_UNDEFINED: null.
/// `shape` is called by the last member once for each new communicator that it makes, with some member's rank
/// in `parent` and the group; it gives the topology (null: none).
using Shape = std::function<std::shared_ptr<const Topology>(int parent_rank, const Group& group)>;
Err split(Comm& parent, int color, int key, Comm*& created, const Shape& shape = nullptr);

/// MPI_Comm_create: each member names the group it is to be in, disjoint from the others' groups, or one
/// without itself: null.
Err create(Comm& parent, std::shared_ptr<const Group> group, Comm*& created);

/// MPI_Comm_create_group: only the members of `group` come, and meet by messages with `tag`.
Err create_from_members(Comm& parent, const std::shared_ptr<const Group>& group, int tag, Comm*& created);

/// MPI_Comm_disconnect: waits until all members have come here. The caller then frees the handle.
Err disconnect(Comm& comm);

}  // namespace tmpi::mpi
