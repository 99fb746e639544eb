// Reduce_scatter and reduce_scatter_block of small vectors: each member leaves its vector in a cell, the last
// to come folds the cells, each member takes its chunk of the result when it wakes.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/fold.hpp"
#include "mpi/shm/coll_shared.hpp"

namespace tmpi::mpi {
namespace {

// Elements of the chunks before `member`'s; with the number of members: of all.
MPI_Count elements_before(const Args& args, int member) {
  if (!args.recv.counts) return member * args.recv.count;
  MPI_Count elements = 0;
  for (int i = 0; i < member; ++i) elements += args.recv.counts[i];
  return elements;
}

}  // namespace

void algorithm::end_reduce_scatter_cells(Comm& comm, Args& args) {
  const Datatype& type = *args.recv.type;
  const MPI_Count all = elements_before(args, comm.size);
  std::byte* cells = meeting_of(comm).cells(comm.coll_sequence - 1);
  const std::byte* result = folded(*args.op, type, all, cells, comm.size);
  copy_elements(static_cast<std::byte*>(args.recv.data),
                result + dense_bytes(type, elements_before(args, comm.rank)), 0,
                reduced_count(args, comm.rank), type);
}

Err algorithm::reduce_scatter_cells(Comm& comm, Args& args) {
  const Datatype& type = *args.recv.type;
  const MPI_Count all = elements_before(args, comm.size), bytes = dense_bytes(type, all);
  if (all == 0) return kOk;
  Meeting& meeting = meeting_of(comm);
  std::byte* cells = meeting.cells(comm.coll_sequence++);
  copy_bytes(cells + comm.rank * bytes, args.input(), bytes);
  if (meeting.meet([&, n = comm.size] { fold_cells(*args.op, type, all, cells, n); }, args.guest))
    end_reduce_scatter_cells(comm, args);
  return kOk;
}

}  // namespace tmpi::mpi
