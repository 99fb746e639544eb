// Alltoall, alltoallv, alltoallw by pairs: in step s a member sends to the one s ranks above and receives
// from the one s ranks below. Any sizes; one message under way at a time. With MPI_IN_PLACE what is sent is
// copied first.
#include <vector>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/messages/messages.hpp"

namespace tmpi::mpi {
namespace {

// The outgoing chunks of MPI_IN_PLACE, which are about to be overwritten, packed.
class Outgoing {
 public:
  Outgoing(const Args& args, int n, int me) {
    if (!args.in_place) return;
    MPI_Count total = 0;
    for (int i = 0; i < n; ++i) {
      offsets_.push_back(total);
      if (i != me) total += args.recv.chunk(i).bytes();
    }
    offsets_.push_back(total);
    packed_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(total));
    for (int i = 0; i < n; ++i) {
      if (i != me) pack_chunk(packed_.get() + offset(i), args.recv.chunk(i));
    }
  }
  Chunk to(const Args& args, int member) const {
    if (!args.in_place) return args.send.chunk(member);
    return bytes_chunk(packed_.get() + offset(member), offset(member + 1) - offset(member));
  }

 private:
  MPI_Count offset(int i) const { return offsets_[static_cast<std::size_t>(i)]; }
  std::vector<MPI_Count> offsets_;
  std::unique_ptr<std::byte[]> packed_;
};

Err alltoall_pairwise(Comm& comm, Args& args) {
  Messages messages(comm, args);
  const int n = comm.size, me = comm.rank;
  const Outgoing outgoing(args, n, me);
  if (!args.in_place) messages.copy(args.recv.chunk(me), args.send.chunk(me));
  for (int step = 1; step < n; ++step) {
    const int above = (me + step) % n, below = (me - step + n) % n;
    messages.exchange(outgoing.to(args, above), above, args.recv.chunk(below), below);
  }
  return messages.result();
}

}  // namespace

constinit const Algorithm algorithm::kAlltoallPairwise{
    .collective = Collective::kAlltoall, .name = "pairwise", .forms = {.run = alltoall_pairwise}};

}  // namespace tmpi::mpi
