// Broadcast of large messages: the root's data is scattered along a binomial tree, a piece for each member,
// and the pieces go round a ring until everybody has all: each member sends and receives the data about
// twice, however many members there are.
#include <algorithm>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/messages/messages.hpp"

namespace tmpi::mpi {
namespace {

// The packed message in n pieces; ranks are relative to the root.
struct Pieces {
  std::byte* data;
  MPI_Count bytes;
  MPI_Count piece;
  Chunk run(int first, int count) const noexcept {
    const MPI_Count begin = std::min(first * piece, bytes), end = std::min((first + count) * piece, bytes);
    return bytes_chunk(data + begin, end - begin);
  }
};

void scatter(Messages& messages, const BinomialTree& tree, const Pieces& pieces) {
  if (!tree.is_root()) messages.recv(pieces.run(tree.me(), tree.members()), tree.parent());
  tree.farthest_first([&](int child, int distance) {
    messages.send(pieces.run(child, tree.members_from(child, distance)), tree.rank_of(child));
  });
}

void allgather(Messages& messages, const BinomialTree& tree, const Pieces& pieces, int n) {
  const int me = tree.me();
  for (int step = 0; step < n - 1; ++step) {
    const int outgoing = (me - step + n) % n, coming = (me - step - 1 + n) % n;
    messages.exchange(pieces.run(outgoing, 1), tree.rank_of(me + 1), pieces.run(coming, 1),
                      tree.rank_of(me + n - 1));
  }
}

Err bcast_scatter_allgather(Comm& comm, Args& args) {
  Messages messages(comm, args);
  const BinomialTree tree(comm.rank, args.root, comm.size);
  const Chunk data = args.recv.whole();
  PackedChunk packed(data);
  if (tree.is_root()) packed.load();
  const Pieces pieces{packed.data(), data.bytes(), (data.bytes() + comm.size - 1) / comm.size};
  scatter(messages, tree, pieces);
  allgather(messages, tree, pieces, comm.size);
  if (!tree.is_root()) packed.store();
  return messages.result();
}

}  // namespace

constinit const Algorithm algorithm::kBcastScatterAllgather{
    .collective = Collective::kBcast, .name = "scatter_allgather", .forms = {.run = bcast_scatter_allgather}};

}  // namespace tmpi::mpi
