// Allgather and allgatherv round a ring: in each of n - 1 steps a member hands the chunk that it got last to
// its upper neighbour. Each link carries each byte once; any sizes. For large data.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/messages/messages.hpp"

namespace tmpi::mpi {
namespace {

Err allgather_ring(Comm& comm, Args& args) {
  Messages messages(comm, args);
  const int n = comm.size, me = comm.rank;
  if (!args.in_place) messages.copy(args.recv.chunk(me), args.send.whole());
  for (int step = 0; step < n - 1; ++step) {
    messages.exchange(args.recv.chunk((me - step + n) % n), (me + 1) % n,
                      args.recv.chunk((me - step - 1 + n) % n), (me - 1 + n) % n);
  }
  return messages.result();
}

}  // namespace

constinit const Algorithm algorithm::kAllgatherRing{
    .collective = Collective::kAllgather, .name = "ring", .forms = {.run = allgather_ring}};

}  // namespace tmpi::mpi
