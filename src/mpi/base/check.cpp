#include "mpi/base/check.hpp"

namespace tmpi::mpi {

Err bad_count(MPI_Count count) {
  return fail(MPI_ERR_COUNT, "count is {}: it must not be negative", count);
}

Err bad_type(MPI_Datatype handle) {
  if (handle == MPI_DATATYPE_NULL)
    return fail(MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL: never created, or freed");
  return fail(MPI_ERR_TYPE, "{} is no datatype, or one that tmpi does not provide",
              static_cast<const void*>(handle));
}

Err uncommitted_type() {
  return fail(MPI_ERR_TYPE, "the datatype has not been committed: call MPI_Type_commit first");
}

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

Err null_pointer(const char* argument) {
  return fail(MPI_ERR_ARG, "argument {} is NULL", argument);
}

Err null_buffer(MPI_Count count) {
  return fail(MPI_ERR_BUFFER, "the buffer is NULL, but count is {}", count);
}

}  // namespace tmpi::mpi
