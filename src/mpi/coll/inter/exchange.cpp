// Intercommunicators, allgather and alltoall. Allgather: everybody sends its chunk to the other group's
// leader, who broadcasts them, packed, in its group. Alltoall: a message between any two.
#include "mpi/coll/coll.hpp"
#include "mpi/coll/inter/inter.hpp"
#include "mpi/coll/messages/messages.hpp"

namespace tmpi::mpi {

Err inter::allgather(Comm& comm, Args& args) {
  Messages messages(comm, args);
  const bool leader = comm.rank == kLeader;
  MessageBatch batch(messages, comm.peers + 1);
  for (int i = 0; leader && i < comm.peers; ++i) batch.recv(args.recv.chunk(i), i);
  batch.send(args.send.whole(), kLeader);
  batch.wait();
  MPI_Count total = 0;  // the same for all of my group
  for (int i = 0; i < comm.peers; ++i) total += args.recv.chunk(i).bytes();
  const auto packed = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(total));
  std::byte* place = packed.get();
  for (int i = 0; leader && i < comm.peers; place += args.recv.chunk(i++).bytes())
    pack_chunk(place, args.recv.chunk(i));
  Args within{.collective = Collective::kBcast, .root = kLeader};
  within.recv = {.data = packed.get(), .count = total, .type = checked_type(MPI_BYTE)};
  TMPI_TRY(run(*comm.local, within));
  place = packed.get();
  for (int i = 0; !leader && i < comm.peers; place += args.recv.chunk(i++).bytes())
    (void)unpack_chunk(args.recv.chunk(i), place, args.recv.chunk(i).bytes());
  return messages.result();
}

Err inter::alltoall(Comm& comm, Args& args) {
  Messages messages(comm, args);
  const int n = comm.peers;
  MessageBatch batch(messages, 2 * n);
  for (int i = 0; i < n; ++i) batch.recv(args.recv.chunk((comm.rank + i) % n), (comm.rank + i) % n);
  for (int i = 0; i < n; ++i) batch.send(args.send.chunk((comm.rank + i) % n), (comm.rank + i) % n);
  batch.wait();
  return messages.result();
}

}  // namespace tmpi::mpi
