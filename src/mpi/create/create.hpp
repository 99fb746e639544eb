// Making communicators of communicators. MPI report, 7.4.2. All members of `parent` come together
// (shm/shared_barrier.hpp); the last one makes what the members of each new communicator share, all of them at
// once in O(n log n); each member then makes its own Comm. Of an intercommunicator (both its sides come together)
// they make intercommunicators. Arguments have been checked. Error handlers are inherited, names are not. A
// member that does not belong to a new communicator gets null. All SUSPEND.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "mpi/comm/comm.hpp"

namespace tmpi::mpi {

class Info;

/// Same groups and topology, other context; nothing that is cached.
Err duplicate(Comm& parent, Comm*& created);

/// MPI_Comm_dup(_with_info): the same with the attributes that their copy callbacks hand on, and with the
/// hints of `hints`, or the parent's if null. An error of a callback is returned after all have come; the
/// others get their communicator.
Err duplicate(Comm& parent, const Info* hints, Comm*& created);

/// What is cached goes from `parent` to `copy`: hints as above, attributes. If a copy callback fails, those
/// that were copied are deleted again, and its code is returned.
Err copy_cached(Comm& parent, const Info* hints, Comm& copy);

/// MPI_Comm_split: members of one color, ordered by key and rank in `parent`; color MPI_UNDEFINED: null.
/// Intercommunicators: members of one color on both sides; a color that one side lacks: null. `shape` is
/// called by the last member once for each new intracommunicator that it makes, with some member's rank in
/// `parent` and the group; it gives the topology (null: none).
using Shape = std::function<std::shared_ptr<const Topology>(int parent_rank, const Group& group)>;
Err split(Comm& parent, int color, int key, Comm*& created, const Shape& shape = nullptr);

/// MPI_Comm_split_type: as split, but a member may bring its color at several levels instead of one, from
/// coarse to fine (MPI_COMM_TYPE_HW_UNGUIDED): the first level at which such members differ decides, and
/// `level` says which that was. If there is none they get null. Members without levels have `color`.
Err split_by_level(Comm& parent, int color, const std::vector<int>& levels, int key, Comm*& created,
                   int& level);

/// MPI_Comm_create: each member names the group it is to be in, disjoint from the others' groups, or one
/// without itself: null. Intercommunicators: all of one side name the same part of it; nothing on one side:
/// null for all.
Err create(Comm& parent, std::shared_ptr<const Group> group, Comm*& created);

/// MPI_Comm_create_group: only the members of `group` come, and find each other by `tag`.
Err create_from_members(Comm& parent, const std::shared_ptr<const Group>& group, int tag, Comm*& created);

/// MPI_Comm_disconnect: waits until all members have come here. The caller then frees the handle.
Err disconnect(Comm& comm);

}  // namespace tmpi::mpi
