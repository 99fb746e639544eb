// Allgather by recursive doubling: partners 1, 2, 4 ... ranks apart exchange all they have so far. log n
// steps, straight between the receive buffers; for a power of two of members and chunks of one size.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/messages/messages.hpp"

namespace tmpi::mpi {
namespace {

Err allgather_doubling(Comm& comm, Args& args) {
  Messages messages(comm, args);
  const int me = comm.rank;
  if (!args.in_place) messages.copy(args.recv.chunk(me), args.send.whole());
  for (int distance = 1; distance < comm.size; distance *= 2) {
    const int partner = me ^ distance;
    messages.exchange(chunks_of(args.recv, me & -distance, distance), partner,
                      chunks_of(args.recv, partner & -distance, distance), partner);
  }
  return messages.result();
}

}  // namespace

constinit const Algorithm algorithm::kAllgatherDoubling{.collective = Collective::kAllgather,
                                                        .name = "recursive_doubling",
                                                        .needs = conditions<kRegular, kPowerOfTwo>,
                                                        .preferred_for = conditions<kAllUpTo<512 * kKiB>>,
                                                        .forms = {.run = allgather_doubling}};

}  // namespace tmpi::mpi
