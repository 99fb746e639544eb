// Reduce_scatter and reduce_scatter_block: each worker group's leader folds its share of the whole vector and
// writes each element to the member whose chunk it belongs to. With MPI_IN_PLACE a result stands where
// arguments stood that other leaders still read, so results go to a buffer first and out of it when all
// leaders have done with reading.
#include <memory>
#include <new>
#include <vector>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/fold.hpp"
#include "mpi/coll/steps.hpp"

namespace tmpi::mpi {
namespace {

// Long vectors of many members are streams from memory, which go faster by pages (256 members, 1 MiB each: 17.5 ms for 22.8
// by blocks of two).
constexpr MPI_Count kBytesOfMany = 4096;
constexpr int kMany = 64;

// Folds worker group `group`'s share of the whole vector, block by block, and calls body(member, first element in the
// member's chunk, where the result is, count) for each piece of a chunk.
template <class Body>
void fold_pieces(const Args& args, Args* const* members, int n, int group, int groups, Body&& body) {
  const Datatype& type = *args.recv.type;
  MPI_Count total = 0;
  for (int i = 0; i < n; ++i) total += reduced_count(args, i);
  int member = 0;
  MPI_Count begin = 0;  // of the member's chunk
  const auto fold = [&](MPI_Count first, MPI_Count count) {
    std::byte* result = scratch_elements(0, count, type);
    fold_block(*args.op, type, members, n, first, count, result);
    while (count > 0) {
      while (first >= begin + reduced_count(args, member)) begin += reduced_count(args, member++);
      const MPI_Count piece = std::min(count, begin + reduced_count(args, member) - first);
      body(member, first - begin, result, piece);
      first += piece;
      count -= piece;
      result += piece * type.extent();
    }
  };
  for_blocks(total, type, group, groups, fold, n < kMany ? kBlockBytes : kBytesOfMany);
}

std::byte* place(Args* const* members, int member, MPI_Count first, const Datatype& type) {
  return static_cast<std::byte*>(members[member]->recv.data) + first * type.extent();
}

using Leader = SharedBarrier::Leader;

void reduce_direct(const Args& args, Args* const* members, int n, const Leader& leader) {
  const Datatype& type = *args.recv.type;
  fold_pieces(args, members, n, leader.group(), leader.groups(),
              [&](int member, MPI_Count to, const std::byte* result, MPI_Count count) {
                copy_elements(place(members, member, to, type), result, 0, count, type);
              });
}

struct Piece {
  int member;
  MPI_Count to;
  MPI_Count count;
  std::unique_ptr<std::byte[]> packed;
};

void reduce_in_place(const Args& args, Args* const* members, int n, Leader& leader) {
  const Datatype& type = *args.recv.type;
  std::vector<Piece> pieces;
  fold_pieces(args, members, n, leader.group(), leader.groups(),
              [&](int member, MPI_Count to, const std::byte* result, MPI_Count count) {
                const MPI_Count bytes = count * type.size();
                Piece& piece = pieces.emplace_back(
                    Piece{member, to, count, std::make_unique_for_overwrite<std::byte[]>(bytes)});
                pack_segment(piece.packed.get(), result, count, type, 0, bytes);
              });
  leader.join();  // everything has been read
  for (const Piece& piece : pieces) {
    unpack_segment(place(members, piece.member, piece.to, type), piece.count, type, piece.packed.get(), 0,
                   piece.count * type.size());
  }
}

struct ReduceScatterSegments {
  static constexpr Amount kAmount = Amount::kChunks;
  static void contribute(Call& call) { show_arguments(call); }

  static void work(Call& call, Leader& leader) {
    if (call.args.in_place) {
      reduce_in_place(call.args, members_of(call), call.comm.size, leader);
    } else {
      reduce_direct(call.args, members_of(call), call.comm.size, leader);
    }
  }
};

}  // namespace

constinit const Algorithm algorithm::kReduceScatterSegments{.collective = Collective::kReduceScatter,
                                                            .name = "segments",
                                                            .needs = conditions<kOneNode>,
                                                            .preferred_for = conditions<kButPairUpTo<128>>,
                                                            .forms = all_together<ReduceScatterSegments>};

}  // namespace tmpi::mpi
