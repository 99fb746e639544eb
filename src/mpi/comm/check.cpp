#include "mpi/comm/check.hpp"

namespace tmpi::mpi {

Err bad_peer(const Comm& comm, int peer, bool receive) {
  return fail(MPI_ERR_RANK, "{} rank is {}, but the communicator has ranks 0 to {} (and MPI_PROC_NULL{})",
              receive ? "source" : "destination", peer, comm.peers - 1, receive ? ", MPI_ANY_SOURCE" : "");
}

Err bad_tag(int tag, bool receive) {
  return fail(MPI_ERR_TAG, "tag is {}: it must be 0 to {} (MPI_TAG_UB){}", tag, kTagUpperBound,
              receive ? " or MPI_ANY_TAG" : "");
}

Err bad_root(const Comm& comm, int root) {
  if (comm.inter())
    return fail(
        MPI_ERR_ROOT,
        "root is {}, but the other group has ranks 0 to {}; in the root's group the root passes MPI_ROOT, "
        "the others MPI_PROC_NULL",
        root, comm.peers - 1);
  return fail(MPI_ERR_ROOT, "root is {}, but the communicator has ranks 0 to {}", root, comm.size - 1);
}

}  // namespace tmpi::mpi
