// Allgather after Bruck: a member keeps the chunks of the ranks from its own on, packed, and doubles their
// number in each step with those of the member that far above. log n steps for any number of members; small
// chunks of one size.
#include <algorithm>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/messages/messages.hpp"

namespace tmpi::mpi {
namespace {

Err allgather_bruck(Comm& comm, Args& args) {
  Messages messages(comm, args);
  const int n = comm.size, me = comm.rank;
  const MPI_Count bytes = args.recv.whole().bytes();
  const auto packed = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(n * bytes));
  messages.copy(bytes_chunk(packed.get(), bytes), args.in_place ? args.recv.chunk(me) : args.send.whole());
  for (int have = 1; have < n; have *= 2) {
    const MPI_Count more = std::min(have, n - have) * bytes;
    messages.exchange(bytes_chunk(packed.get(), more), (me - have + n) % n,
                      bytes_chunk(packed.get() + have * bytes, more), (me + have) % n);
  }
  for (int i = args.in_place ? 1 : 0; i < n; ++i) {
    (void)unpack_chunk(args.recv.chunk((me + i) % n), packed.get() + i * bytes, bytes);
  }
  return messages.result();
}

}  // namespace

constinit const Algorithm algorithm::kAllgatherBruck{.collective = Collective::kAllgather,
                                                     .name = "bruck",
                                                     .needs = conditions<kRegular>,
                                                     .preferred_for = conditions<kAllUpTo<80 * kKiB>>,
                                                     .forms = {.run = allgather_bruck}};

}  // namespace tmpi::mpi
