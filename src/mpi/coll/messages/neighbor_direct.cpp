// Neighbourhood collectives: a message along each edge of the topology, all under way at once. MPI
// report, 8.6.
//
// A pair of ranks may share several edges. Messages between them are matched in the order of sending, so
// receives are posted in the order in which the partner sends. Along a graph's edges that is the order of
// their lists. In a grid a rank sends first downwards, then upwards; what comes from one and the same partner
// on both sides (a ring of two ranks, or of one) was sent downwards first and so belongs to my upper side
// first.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/messages/messages.hpp"
#include "mpi/comm/topology.hpp"

namespace tmpi::mpi {
namespace {

Err neighbor_direct(Comm& comm, Args& args) {
  const Neighbours* around = nullptr;
  TMPI_TRY(neighbours(comm, around));
  const int incoming = static_cast<int>(around->sources.size()),
            outgoing = static_cast<int>(around->destinations.size());
  const bool grid = comm.topology->kind == MPI_CART;
  const bool same_to_all = args.collective == Collective::kNeighborAllgather;
  Messages messages(comm, args);
  MessageBatch batch(messages, incoming + outgoing);
  for (int k = 0; k < incoming; ++k) {
    const int i = grid ? k ^ 1 : k;
    batch.recv(args.recv.chunk(i), around->sources[static_cast<std::size_t>(i)]);
  }
  for (int k = 0; k < outgoing; ++k) {
    batch.send(same_to_all ? args.send.whole() : args.send.chunk(k),
               around->destinations[static_cast<std::size_t>(k)]);
  }
  batch.wait();
  return messages.result();
}

}  // namespace

constinit const Algorithm algorithm::kNeighborAllgatherDirect{
    .collective = Collective::kNeighborAllgather, .name = "direct", .forms = {.run = neighbor_direct}};

constinit const Algorithm algorithm::kNeighborAlltoallDirect{
    .collective = Collective::kNeighborAlltoall, .name = "direct", .forms = {.run = neighbor_direct}};

}  // namespace tmpi::mpi
