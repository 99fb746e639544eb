// Alltoall after Bruck: chunks travel by powers of two ranks. In the step of bit b all chunks whose distance
// has this bit go up by 2^b: log n messages of about half of the data each, instead of n. For small chunks of
// one size.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/messages/messages.hpp"

namespace tmpi::mpi {
namespace {

Err alltoall_bruck(Comm& comm, Args& args) {
  Messages messages(comm, args);
  const int n = comm.size, me = comm.rank;
  const Side& from = args.in_place ? args.recv : args.send;
  const MPI_Count bytes = args.recv.whole().bytes();
  const auto size = static_cast<std::size_t>(bytes);
  // Chunk i of `travelling` has i ranks to go, counted from where it started.
  const auto travelling = std::make_unique_for_overwrite<std::byte[]>(size * static_cast<std::size_t>(n));
  const auto packed = std::make_unique_for_overwrite<std::byte[]>(size * static_cast<std::size_t>(n));
  const auto coming = std::make_unique_for_overwrite<std::byte[]>(size * static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i)
    messages.copy(bytes_chunk(travelling.get() + i * bytes, bytes), from.chunk((me + i) % n));
  for (int bit = 1; bit < n; bit *= 2) {
    MPI_Count moved = 0;
    for (int i = bit; i < n; ++i) {
      if ((i & bit) != 0)
        __builtin_memcpy(packed.get() + bytes * moved++, travelling.get() + i * bytes, size);
    }
    messages.exchange(bytes_chunk(packed.get(), moved * bytes), (me + bit) % n,
                      bytes_chunk(coming.get(), moved * bytes), (me - bit + n) % n);
    moved = 0;
    for (int i = bit; i < n; ++i) {
      if ((i & bit) != 0)
        __builtin_memcpy(travelling.get() + i * bytes, coming.get() + bytes * moved++, size);
    }
  }
  for (int i = 0; i < n; ++i)
    (void)unpack_chunk(args.recv.chunk((me - i + n) % n), travelling.get() + i * bytes, bytes);
  return messages.result();
}

}  // namespace

constinit const Algorithm algorithm::kAlltoallBruck{.collective = Collective::kAlltoall,
                                                    .name = "bruck",
                                                    .needs = conditions<kRegular>,
                                                    .preferred_for = conditions<kUpTo<256>>,
                                                    .forms = {.run = alltoall_bruck}};

}  // namespace tmpi::mpi
