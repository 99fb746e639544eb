// Exscan: as scan, but member i gets what its predecessors combine to; member 0 gets nothing. A running
// result in scratch memory makes arguments in place right.
#include <utility>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/fold.hpp"
#include "mpi/shm/coll_shared.hpp"

namespace tmpi::mpi {
namespace {

void exscan_block(const Args& args, Args* const* members, int n, MPI_Count first, MPI_Count count) {
  const Datatype& type = *args.recv.type;
  const MPI_Count offset = first * type.extent();
  std::byte* before = scratch_elements(0, count, type);
  std::byte* next = scratch_elements(1, count, type);
  copy_elements(before, members[0]->input() + offset, 0, count, type);
  for (int i = 1; i < n; ++i) {
    const bool more = i + 1 < n;
    if (more) copy_elements(next, members[i]->input() + offset, 0, count, type);
    copy_elements(static_cast<std::byte*>(members[i]->recv.data) + offset, before, 0, count, type);
    if (more) reduce_local(*args.op, before, next, count, type);
    std::swap(before, next);
  }
}

}  // namespace

Err algorithm::exscan_segments(Comm& comm, Args& args) {
  if (args.recv.count == 0) return kOk;
  const Datatype& type = *args.recv.type;
  Meeting& meeting = meeting_of(comm);
  Args** members = meeting.records<Args>(comm.coll_sequence++);
  members[comm.rank] = &args;
  meeting.meet_and_work(
      [&, n = comm.size](int lane, int lanes) {
        for_blocks(args.recv.count, type, lane, lanes,
                   [&](MPI_Count first, MPI_Count count) { exscan_block(args, members, n, first, count); });
      },
      args.guest);
  return kOk;
}

}  // namespace tmpi::mpi
