// Collectives on intercommunicators: each member of one group gets what the other group's members give. Built
// from collectives of each side's own communicator (comm.local), for what its members do together, and
// messages between the groups. MPI report, 6.2.2. All SUSPEND.
#pragma once

#include "mpi/coll/args.hpp"
#include "mpi/comm/comm.hpp"

namespace tmpi::mpi {

/// The collective that `args` names. args.root: MPI_ROOT at the root, MPI_PROC_NULL at the other members of
/// its group, the root's rank at the members of the other group.
Err run_inter(Comm& comm, Args& args);

namespace inter {

/// The member of each group through which the group speaks to the other.
inline constexpr int kLeader = 0;

Err barrier(Comm& comm, Args& args);
Err bcast(Comm& comm, Args& args);           // rooted.cpp
Err gather(Comm& comm, Args& args);          // rooted.cpp
Err scatter(Comm& comm, Args& args);         // rooted.cpp
Err allgather(Comm& comm, Args& args);       // exchange.cpp
Err alltoall(Comm& comm, Args& args);        // exchange.cpp
Err reduce(Comm& comm, Args& args);          // reduce.cpp
Err allreduce(Comm& comm, Args& args);       // reduce.cpp
Err reduce_scatter(Comm& comm, Args& args);  // reduce.cpp

}  // namespace inter
}  // namespace tmpi::mpi
