// Scatter along a binomial tree: a member gets the chunks of its subtree, packed, in one message, and hands
// its children theirs. For small chunks of one size.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/messages/messages.hpp"

namespace tmpi::mpi {
namespace {

Err scatter_binomial(Comm& comm, Args& args) {
  Messages messages(comm, args);
  const BinomialTree tree(comm.rank, args.root, comm.size);
  const Chunk room = args.recv.whole();
  const MPI_Count bytes = tree.is_root() ? args.send.whole().bytes() : room.bytes();
  const MPI_Count all = bytes * tree.members();
  const auto packed = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(all));
  if (tree.is_root()) {
    for (int i = 1; i < comm.size; ++i)
      pack_chunk(packed.get() + i * bytes, args.send.chunk(tree.rank_of(i)));
  } else {
    messages.recv(bytes_chunk(packed.get(), all), tree.parent());
  }
  tree.farthest_first([&](int child, int distance) {
    std::byte* place = packed.get() + (child - tree.me()) * bytes;
    messages.send(bytes_chunk(place, tree.members_from(child, distance) * bytes), tree.rank_of(child));
  });
  if (!tree.is_root()) {
    (void)unpack_chunk(room, packed.get(), bytes);
  } else if (!args.in_place) {
    messages.copy(room, args.send.chunk(comm.rank));
  }
  return messages.result();
}

}  // namespace

constinit const Algorithm algorithm::kScatterBinomial{.collective = Collective::kScatter,
                                                      .name = "binomial",
                                                      .needs = conditions<kRegular>,
                                                      .preferred_for = conditions<kUpTo<2 * kKiB>>,
                                                      .forms = {.run = scatter_binomial}};

}  // namespace tmpi::mpi
