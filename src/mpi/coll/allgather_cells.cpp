// Allgather of small chunks: each member leaves its chunk in a cell; when all have come, each takes all of
// them, which stand one behind the other, when it wakes. Leaders need not meet a second time. The cells are
// used again two meetings later, when everybody has taken them.
#include <algorithm>
#include <cstring>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/coll_shared.hpp"

namespace tmpi::mpi {

Err algorithm::allgather_cells(Comm& comm, Args& args) {
  const Chunk all{args.recv.data, comm.size * args.recv.count, args.recv.type};
  const Chunk mine = args.in_place ? args.recv.chunk(comm.rank) : args.send.whole();
  const MPI_Count bytes = args.recv.whole().bytes();
  if (bytes == 0) return mine.bytes() > 0 ? truncated_chunk() : kOk;
  Meeting& meeting = meeting_of(comm);
  std::byte* cells = meeting.cells(comm.coll_sequence++);
  const MPI_Count length = std::min(mine.bytes(), bytes);
  pack_segment(cells + comm.rank * bytes, mine.data, mine.count, *mine.type, 0, length);
  meeting.meet([] {});
  (void)unpack_chunk(all, cells, comm.size * bytes);
  return mine.bytes() > bytes ? truncated_chunk() : kOk;
}

}  // namespace tmpi::mpi
