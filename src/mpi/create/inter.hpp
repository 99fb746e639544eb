// Intercommunicators: making them of two groups, and one communicator of both. MPI report, 7.6.2. Arguments
// have been checked but for what is said. All SUSPEND.
#pragma once

#include <functional>

#include "mpi/comm/comm.hpp"
#include "mpi/shm/keyed_barrier.hpp"

namespace tmpi::mpi {

/// MPI_Intercomm_create: every member of `local` comes; the leaders find each other through `peer`. `peer`,
/// `remote_leader` and `tag` matter at the leader only and are checked here, so that a group whose leader has
/// made a mistake hears of it: MPI_ERR_COMM, MPI_ERR_RANK, MPI_ERR_TAG at all its members. MPI_ERR_COMM: the
/// groups have members in common.
Err intercomm_create(Comm& local, int local_leader, MPI_Comm peer, int remote_leader, int tag,
                     Comm*& created);

/// The leader of another group, and what the two leaders call their counterpart, which nobody else does meanwhile.
struct Counterpart {
  int leader = -1;  ///< number in the job; not the calling rank
  BarrierKey key;   ///< without a group
};

/// The intercommunicator of `local`, all of whose members come, and of another group, whose leader the leader here finds by
/// `find`, which may fail: all members here then have its error. MPI_ERR_COMM: the groups have members in common.
Err meet(Comm& local, int leader, const std::function<Err(Counterpart&)>& find, Comm*& created);

/// The same of the calling rank alone and another one that is alone.
Err meet_alone(const Counterpart& counterpart, Errhandler* errhandler, Comm*& created);

/// MPI_Intercomm_merge: the group that says `high` comes second; if both say the same, side 0 comes first.
Err intercomm_merge(Comm& inter, bool high, Comm*& created);

}  // namespace tmpi::mpi
