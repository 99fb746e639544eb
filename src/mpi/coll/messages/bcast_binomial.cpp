// Broadcast along a binomial tree: log n rounds, each with the whole message. For small messages.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/messages/messages.hpp"

namespace tmpi::mpi {
namespace {

Err bcast_binomial(Comm& comm, Args& args) {
  Messages messages(comm, args);
  const BinomialTree tree(comm.rank, args.root, comm.size);
  const Chunk data = args.recv.whole();
  if (!tree.is_root()) messages.recv(data, tree.parent());
  tree.farthest_first([&](int child, int) { messages.send(data, tree.rank_of(child)); });
  return messages.result();
}

}  // namespace

constinit const Algorithm algorithm::kBcastBinomial{.collective = Collective::kBcast,
                                                    .name = "binomial",
                                                    .preferred_for = conditions<kUpToOrPair<12 * kKiB>>,
                                                    .forms = {.run = bcast_binomial}};

}  // namespace tmpi::mpi
