#include "mpi/coll/inter/inter.hpp"

#include "mpi/coll/coll.hpp"
#include "mpi/coll/messages/messages.hpp"

namespace tmpi::mpi {

Err inter::barrier(Comm& comm, Args& args) {
  TMPI_TRY(mpi::barrier(*comm.local));
  Messages messages(comm, args);
  if (comm.rank == kLeader) messages.exchange(no_data(), kLeader, no_data(), kLeader);
  return mpi::barrier(*comm.local);
}

Err run_inter(Comm& comm, Args& args) {
  switch (args.collective) {
    case Collective::kBarrier:
      return inter::barrier(comm, args);
    case Collective::kBcast:
      return inter::bcast(comm, args);
    case Collective::kGather:
      return inter::gather(comm, args);
    case Collective::kScatter:
      return inter::scatter(comm, args);
    case Collective::kAllgather:
      return inter::allgather(comm, args);
    case Collective::kAlltoall:
      return inter::alltoall(comm, args);
    case Collective::kReduce:
      return inter::reduce(comm, args);
    case Collective::kAllreduce:
      return inter::allreduce(comm, args);
    case Collective::kReduceScatter:
      return inter::reduce_scatter(comm, args);
    case Collective::kScan:
    case Collective::kExscan:
    case Collective::kNeighborAllgather:
    case Collective::kNeighborAlltoall:
      break;  // the argument checks do not let them through
  }
  return fail(MPI_ERR_COMM,
              "the communicator is an intercommunicator, on which this collective is not defined");
}

}  // namespace tmpi::mpi
