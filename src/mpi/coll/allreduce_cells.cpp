// Allreduce of small vectors: each member leaves its vector in a cell, the last to come folds the cells, each
// member takes the result when it wakes. The cells are used again two meetings later, when everybody has
// taken it.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/fold.hpp"
#include "mpi/shm/coll_shared.hpp"

namespace tmpi::mpi {

void algorithm::end_allreduce_cells(Comm& comm, Args& args) {
  std::byte* cells = meeting_of(comm).cells(comm.coll_sequence - 1);
  copy_elements(static_cast<std::byte*>(args.recv.data),
                folded(*args.op, *args.recv.type, args.recv.count, cells, comm.size), 0, args.recv.count,
                *args.recv.type);
}

Err algorithm::allreduce_cells(Comm& comm, Args& args) {
  if (args.recv.count == 0) return kOk;
  const Datatype& type = *args.recv.type;
  const MPI_Count count = args.recv.count, bytes = dense_bytes(type, count);
  Meeting& meeting = meeting_of(comm);
  std::byte* cells = meeting.cells(comm.coll_sequence++);
  copy_bytes(cells + comm.rank * bytes, args.input(), bytes);
  if (meeting.meet([&, n = comm.size] { fold_cells(*args.op, type, count, cells, n); }, args.guest))
    end_allreduce_cells(comm, args);
  return kOk;
}

}  // namespace tmpi::mpi
