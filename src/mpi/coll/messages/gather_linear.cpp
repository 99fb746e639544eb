// Gather and gatherv: every member sends its chunk to the root, which has all receives posted. Any sizes.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/messages/messages.hpp"

namespace tmpi::mpi {
namespace {

Err gather_linear(Comm& comm, Args& args) {
  Messages messages(comm, args);
  if (comm.rank != args.root) {
    messages.send(args.send.whole(), args.root);
    return messages.result();
  }
  MessageBatch batch(messages, comm.size);
  for (int i = 0; i < comm.size; ++i) {
    if (i != comm.rank) batch.recv(args.recv.chunk(i), i);
  }
  if (!args.in_place) messages.copy(args.recv.chunk(comm.rank), args.send.whole());
  batch.wait();
  return messages.result();
}

}  // namespace

constinit const Algorithm algorithm::kGatherLinear{
    .collective = Collective::kGather, .name = "linear", .forms = {.run = gather_linear}};

}  // namespace tmpi::mpi
