#include <algorithm>

#include "mpi/coll/algorithms.hpp"
#include "mpi/shm/coll_shared.hpp"

namespace tmpi::mpi {

void algorithm::end_allgather_cells(Comm& comm, Args& args) {
  const Chunk all{args.recv.data, comm.size * args.recv.count, args.recv.type};
  (void)unpack_chunk(all, meeting_of(comm).cells(comm.coll_sequence - 1), all.bytes());
}

Err algorithm::allgather_cells(Comm& comm, Args& args) {
  const Chunk mine = args.in_place ? args.recv.chunk(comm.rank) : args.send.whole();
  const MPI_Count bytes = args.recv.whole().bytes(), length = std::min(mine.bytes(), bytes);
  if (mine.bytes() > bytes) args.error = MPI_ERR_TRUNCATE;
  if (bytes == 0) return error_of(args);
  Meeting& meeting = meeting_of(comm);
  std::byte* place = meeting.cells(comm.coll_sequence++) + comm.rank * bytes;
  if (mine.type->contiguous()) {
    copy_bytes(place, mine.data, length);
  } else {
    pack_segment(place, mine.data, mine.count, *mine.type, 0, length);
  }
  if (!meeting.meet([] {}, args.guest)) return kOk;
  end_allgather_cells(comm, args);
  return error_of(args);
}

}  // namespace tmpi::mpi
