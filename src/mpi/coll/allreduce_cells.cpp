// Allreduce of small vectors: each member leaves its vector in a cell, the last to come folds the cells, each
// member takes the result when it wakes. The cells are used again two meetings later, when everybody has
// taken it.
#include <cstring>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/coll_shared.hpp"
#include "mpi/coll/fold.hpp"

namespace tmpi::mpi {

Err algorithm::allreduce_cells(Comm& comm, Args& args) {
  if (args.recv.count == 0) return kOk;
  const Datatype& type = *args.recv.type;
  const MPI_Count count = args.recv.count, bytes = dense_bytes(type, count);
  Meeting& meeting = meeting_of(comm);
  std::byte* cells = meeting.cells(comm.coll_sequence++);
  std::memcpy(cells + comm.rank * bytes, args.input(), static_cast<std::size_t>(bytes));
  meeting.meet([&, n = comm.size] { fold_cells(*args.op, type, count, cells, n); });
  copy_elements(static_cast<std::byte*>(args.recv.data), folded(*args.op, type, count, cells, comm.size), 0,
                count, type);
  return kOk;
}

}  // namespace tmpi::mpi
