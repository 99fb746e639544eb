// Scan: when all are there, each lane's leader runs through the ranks with its share of the vector, block by
// block; a member's block is combined with its predecessor's result, which has just been written.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/fold.hpp"
#include "mpi/shm/coll_shared.hpp"

namespace tmpi::mpi {

Err algorithm::scan_segments(Comm& comm, Args& args) {
  if (args.recv.count == 0) return kOk;
  const Datatype& type = *args.recv.type;
  Meeting& meeting = meeting_of(comm);
  Args** members = meeting.records<Args>(comm.coll_sequence++);
  members[comm.rank] = &args;
  meeting.meet_and_work(
      [&, n = comm.size](int lane, int lanes) {
        for_blocks(args.recv.count, type, lane, lanes, [&](MPI_Count first, MPI_Count count) {
          const MPI_Count offset = first * type.extent();
          const std::byte* before = nullptr;
          for (int i = 0; i < n; ++i) {
            std::byte* result = static_cast<std::byte*>(members[i]->recv.data) + offset;
            if (!members[i]->in_place) copy_elements(result, members[i]->input() + offset, 0, count, type);
            if (before != nullptr) reduce_local(*args.op, before, result, count, type);
            before = result;
          }
        });
      },
      args.guest);
  return kOk;
}

}  // namespace tmpi::mpi
