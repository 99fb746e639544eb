#include "mpi/comm/topology.hpp"

#include <memory>
#include <utility>

namespace tmpi::mpi {

Err neighbours(const Comm& comm, const Neighbours*& result) {
  if (comm.topology == nullptr)
    return fail(MPI_ERR_TOPOLOGY,
                "the communicator has no topology, so nobody has neighbours: make it with MPI_Cart_create, "
                "MPI_Graph_create or MPI_Dist_graph_create");
  if (comm.neighbours == nullptr) {
    auto found = std::make_unique<Neighbours>();
    comm.topology->neighbours(comm.rank, *found);
    comm.neighbours = std::move(found);
  }
  result = comm.neighbours.get();
  return kOk;
}

}  // namespace tmpi::mpi
