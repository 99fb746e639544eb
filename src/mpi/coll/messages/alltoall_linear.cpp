// Alltoall, alltoallv, alltoallw with all messages under way at once: 2 n requests for each member.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/messages/messages.hpp"

namespace tmpi::mpi {
namespace {

Err alltoall_linear(Comm& comm, Args& args) {
  Messages messages(comm, args);
  const int n = comm.size, me = comm.rank;
  MessageBatch batch(messages, 2 * n);
  for (int step = 1; step < n; ++step) {
    const int below = (me - step + n) % n;
    batch.recv(args.recv.chunk(below), below);
  }
  for (int step = 1; step < n; ++step) {
    const int above = (me + step) % n;
    batch.send(args.send.chunk(above), above);
  }
  messages.copy(args.recv.chunk(me), args.send.chunk(me));
  batch.wait();
  return messages.result();
}

}  // namespace

constinit const Algorithm algorithm::kAlltoallLinear{.collective = Collective::kAlltoall,
                                                     .name = "linear",
                                                     .needs = conditions<kTwoBuffers>,
                                                     .preferred_for = conditions<kUpTo<32 * kKiB>>,
                                                     .forms = {.run = alltoall_linear}};

}  // namespace tmpi::mpi
