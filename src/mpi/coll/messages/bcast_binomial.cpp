// Broadcast along a binomial tree: log n rounds, each with the whole message. For small messages.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/messages/messages.hpp"

namespace tmpi::mpi {

Err algorithm::bcast_binomial(Comm& comm, Args& args) {
  Messages messages(comm, args);
  const BinomialTree tree(comm.rank, args.root, comm.size);
  const Chunk data = args.recv.whole();
  if (!tree.is_root()) messages.recv(data, tree.parent());
  tree.farthest_first([&](int child, int) { messages.send(data, tree.rank_of(child)); });
  return messages.result();
}

}  // namespace tmpi::mpi
