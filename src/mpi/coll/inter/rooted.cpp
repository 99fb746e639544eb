// Intercommunicators, collectives with a root. Broadcast: the root tells the other group's leader, who tells
// its group. Gather and scatter: a message between the root and each member of the other group, since all of
// the data passes the root in any case.
#include "mpi/coll/coll.hpp"
#include "mpi/coll/inter/inter.hpp"
#include "mpi/coll/messages/messages.hpp"

namespace tmpi::mpi {

Err inter::bcast(Comm& comm, Args& args) {
  if (args.root == MPI_PROC_NULL) return kOk;
  Messages messages(comm, args);
  if (args.root == MPI_ROOT) {
    messages.send(args.recv.whole(), kLeader);
    return messages.result();
  }
  if (comm.rank == kLeader) messages.recv(args.recv.whole(), args.root);
  Args within{.collective = Collective::kBcast, .recv = args.recv, .root = kLeader};
  const Err spread = run(*comm.local, within);
  return spread ? spread : messages.result();
}

Err inter::gather(Comm& comm, Args& args) {
  if (args.root == MPI_PROC_NULL) return kOk;
  Messages messages(comm, args);
  if (args.root != MPI_ROOT) {
    messages.send(args.send.whole(), args.root);
    return messages.result();
  }
  MessageBatch batch(messages, comm.peers);
  for (int i = 0; i < comm.peers; ++i) batch.recv(args.recv.chunk(i), i);
  batch.wait();
  return messages.result();
}

Err inter::scatter(Comm& comm, Args& args) {
  if (args.root == MPI_PROC_NULL) return kOk;
  Messages messages(comm, args);
  if (args.root != MPI_ROOT) {
    messages.recv(args.recv.whole(), args.root);
    return messages.result();
  }
  MessageBatch batch(messages, comm.peers);
  for (int i = 0; i < comm.peers; ++i) batch.send(args.send.chunk(i), i);
  batch.wait();
  return messages.result();
}

}  // namespace tmpi::mpi
