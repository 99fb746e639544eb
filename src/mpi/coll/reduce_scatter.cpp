// Reduce_scatter and reduce_scatter_block: each lane's leader folds its share of the whole vector and writes
// each element to the member whose chunk it belongs to. With MPI_IN_PLACE a result stands where arguments
// stood that other leaders still read, so results go to a buffer first and out of it when all leaders have
// done with reading.
#include <memory>
#include <new>
#include <vector>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/fold.hpp"
#include "mpi/shm/coll_shared.hpp"

namespace tmpi::mpi {
namespace {

// Calls body(member, first element in the whole vector, first element in the member's chunk, count) for the
// pieces of lane's share.
template <class Body>
void for_pieces(const Args& args, int n, int lane, int lanes, Body&& body) {
  const Datatype& type = *args.recv.type;
  MPI_Count total = 0;
  for (int i = 0; i < n; ++i) total += reduced_count(args, i);
  int member = 0;
  MPI_Count begin = 0;  // of the member's chunk
  for_blocks(total, type, lane, lanes, [&](MPI_Count first, MPI_Count count) {
    while (count > 0) {
      while (first >= begin + reduced_count(args, member)) begin += reduced_count(args, member++);
      const MPI_Count piece = std::min(count, begin + reduced_count(args, member) - first);
      body(member, first, first - begin, piece);
      first += piece;
      count -= piece;
    }
  });
}

std::byte* place(Args* const* members, int member, MPI_Count first, const Datatype& type) {
  return static_cast<std::byte*>(members[member]->recv.data) + first * type.extent();
}

void direct(const Args& args, Meeting& meeting, Args* const* members, int n) {
  const Datatype& type = *args.recv.type;
  meeting.meet_and_work(
      [&](int lane, int lanes) {
        for_pieces(args, n, lane, lanes, [&](int member, MPI_Count first, MPI_Count to, MPI_Count count) {
          std::byte* block = scratch_elements(0, count, type);
          fold_block(*args.op, type, members, n, first, count, block);
          copy_elements(place(members, member, to, type), block, 0, count, type);
        });
      },
      args.guest);
}

struct Piece {
  int member;
  MPI_Count to;
  MPI_Count count;
  std::unique_ptr<std::byte[]> packed;
};

void in_place(const Args& args, Meeting& meeting, Args* const* members, int n) {
  const Datatype& type = *args.recv.type;
  std::vector<Piece> pieces;  // the leader's own
  const auto read = [&](int lane, int lanes) {
    for_pieces(args, n, lane, lanes, [&](int member, MPI_Count first, MPI_Count to, MPI_Count count) {
      std::byte* block = scratch_elements(0, count, type);
      fold_block(*args.op, type, members, n, first, count, block);
      const MPI_Count bytes = count * type.size();
      Piece& piece =
          pieces.emplace_back(Piece{member, to, count, std::make_unique_for_overwrite<std::byte[]>(bytes)});
      pack_segment(piece.packed.get(), block, count, type, 0, bytes);
    });
  };
  const auto write = [&](int, int) {
    for (const Piece& piece : pieces) {
      unpack_segment(place(members, piece.member, piece.to, type), piece.count, type, piece.packed.get(), 0,
                     piece.count * type.size());
    }
  };
  meeting.meet_and_work(read, write, args.guest);
}

}  // namespace

Err algorithm::reduce_scatter_segments(Comm& comm, Args& args) {
  Meeting& meeting = meeting_of(comm);
  Args** members = meeting.records<Args>(comm.coll_sequence++);
  members[comm.rank] = &args;
  if (args.in_place) {
    in_place(args, meeting, members, comm.size);
  } else {
    direct(args, meeting, members, comm.size);
  }
  return kOk;
}

}  // namespace tmpi::mpi
