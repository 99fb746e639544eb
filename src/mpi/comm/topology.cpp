#include "mpi/comm/topology.hpp"

namespace tmpi::mpi {

Err neighbours(const Comm& comm, Neighbours& result) {
  if (comm.topology == nullptr)
    return fail(MPI_ERR_TOPOLOGY,
                "the communicator has no topology, so nobody has neighbours: make it with MPI_Cart_create, "
                "MPI_Graph_create or MPI_Dist_graph_create");
  result.sources.clear();
  result.destinations.clear();
  comm.topology->neighbours(comm.rank, result);
  return kOk;
}

}  // namespace tmpi::mpi
