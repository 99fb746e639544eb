// Scan and exscan of small vectors: each member leaves its vector in a cell, the last to come combines each
// cell with the one before it, each member takes its result when it wakes.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/fold.hpp"
#include "mpi/shm/coll_shared.hpp"

namespace tmpi::mpi {
namespace {

// Leaves the cell of rank `place` in the result; a negative place: nothing.
void take(Comm& comm, Args& args, int place) {
  if (place < 0) return;
  const Datatype& type = *args.recv.type;
  const std::byte* cells = meeting_of(comm).cells(comm.coll_sequence - 1);
  copy_elements(static_cast<std::byte*>(args.recv.data), cells + place * dense_bytes(type, args.recv.count),
                0, args.recv.count, type);
}

Err scan_to(Comm& comm, Args& args, int place) {
  if (args.recv.count == 0) return kOk;
  const Datatype& type = *args.recv.type;
  const MPI_Count count = args.recv.count, bytes = dense_bytes(type, count);
  Meeting& meeting = meeting_of(comm);
  std::byte* cells = meeting.cells(comm.coll_sequence++);
  copy_bytes(cells + comm.rank * bytes, args.input(), bytes);
  const auto combine = [&, n = comm.size] {
    for (int i = 1; i < n; ++i)
      reduce_local(*args.op, cells + (i - 1) * bytes, cells + i * bytes, count, type);
  };
  if (meeting.meet(combine, args.guest)) take(comm, args, place);
  return kOk;
}

}  // namespace

Err algorithm::scan_cells(Comm& comm, Args& args) {
  return scan_to(comm, args, comm.rank);
}
void algorithm::end_scan_cells(Comm& comm, Args& args) {
  take(comm, args, comm.rank);
}

Err algorithm::exscan_cells(Comm& comm, Args& args) {
  return scan_to(comm, args, comm.rank - 1);
}
void algorithm::end_exscan_cells(Comm& comm, Args& args) {
  take(comm, args, comm.rank - 1);
}

}  // namespace tmpi::mpi
