// Scatter and scatterv: the root sends each member its chunk. Any sizes.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/messages/messages.hpp"

namespace tmpi::mpi {
namespace {

Err scatter_linear(Comm& comm, Args& args) {
  Messages messages(comm, args);
  if (comm.rank != args.root) {
    messages.recv(args.recv.whole(), args.root);
    return messages.result();
  }
  MessageBatch batch(messages, comm.size);
  for (int i = 0; i < comm.size; ++i) {
    if (i != comm.rank) batch.send(args.send.chunk(i), i);
  }
  if (!args.in_place) messages.copy(args.recv.whole(), args.send.chunk(comm.rank));
  batch.wait();
  return messages.result();
}

}  // namespace

constinit const Algorithm algorithm::kScatterLinear{
    .collective = Collective::kScatter, .name = "linear", .forms = {.run = scatter_linear}};

}  // namespace tmpi::mpi
