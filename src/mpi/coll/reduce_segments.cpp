// Reduce of large vectors: when all are there, each lane's leader folds its share of the vector, block by
// block, from the members' buffers into the root's.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/fold.hpp"
#include "mpi/shm/coll_shared.hpp"

namespace tmpi::mpi {

Err algorithm::reduce_segments(Comm& comm, Args& args) {
  if (args.recv.count == 0) return kOk;
  const Datatype& type = *args.recv.type;
  Meeting& meeting = meeting_of(comm);
  Args** members = meeting.records<Args>(comm.coll_sequence++);
  members[comm.rank] = &args;
  meeting.meet_and_work(
      [&, n = comm.size](int lane, int lanes) {
        auto* result = static_cast<std::byte*>(members[args.root]->recv.data);
        for_blocks(args.recv.count, type, lane, lanes, [&](MPI_Count first, MPI_Count count) {
          std::byte* block = scratch_elements(0, count, type);
          fold_block(*args.op, type, members, n, first, count, block);
          copy_elements(result + first * type.extent(), block, 0, count, type);
        });
      },
      args.guest);
  return kOk;
}

}  // namespace tmpi::mpi
