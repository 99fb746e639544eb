// Gather along a binomial tree: a member collects the chunks of its subtree, packed, and hands them on in one
// message: log n messages at the root instead of n. For small chunks of one size.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/messages/messages.hpp"

namespace tmpi::mpi {
namespace {

Err gather_binomial(Comm& comm, Args& args) {
  Messages messages(comm, args);
  const BinomialTree tree(comm.rank, args.root, comm.size);
  const Chunk mine = args.in_place ? args.recv.chunk(comm.rank) : args.send.whole();
  const MPI_Count bytes = tree.is_root() ? args.recv.whole().bytes() : mine.bytes();
  const auto all = static_cast<std::size_t>(bytes * tree.members());
  const auto packed = std::make_unique_for_overwrite<std::byte[]>(all);
  if (!tree.is_root()) pack_chunk(packed.get(), mine);
  tree.nearest_first([&](int child, int distance) {
    std::byte* place = packed.get() + (child - tree.me()) * bytes;
    messages.recv(bytes_chunk(place, tree.members_from(child, distance) * bytes), tree.rank_of(child));
  });
  if (!tree.is_root()) {
    messages.send(bytes_chunk(packed.get(), bytes * tree.members()), tree.parent());
    return messages.result();
  }
  if (!args.in_place) messages.copy(args.recv.chunk(comm.rank), mine);
  for (int i = 1; i < comm.size; ++i) {
    (void)unpack_chunk(args.recv.chunk(tree.rank_of(i)), packed.get() + i * bytes, bytes);
  }
  return messages.result();
}

}  // namespace

constinit const Algorithm algorithm::kGatherBinomial{.collective = Collective::kGather,
                                                     .name = "binomial",
                                                     .needs = conditions<kRegular>,
                                                     .preferred_for = conditions<kUpTo<2 * kKiB>>,
                                                     .forms = {.run = gather_binomial}};

}  // namespace tmpi::mpi
