// Alltoall(v,w) with MPI_IN_PLACE: chunk j of member i changes places with chunk i of member j. Each pair is
// swapped once, by the leader of the worker group whose share holds the pair's smaller rank.
#include <algorithm>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/steps.hpp"

namespace tmpi::mpi {
namespace {

// Segment by segment through a small buffer, packed, since the two layouts may differ.
void swap_chunks(const Chunk& a, const Chunk& b, MPI_Count bytes) {
  constexpr MPI_Count kSegment = 4096;
  std::byte from_a[kSegment], from_b[kSegment];
  for (MPI_Count offset = 0; offset < bytes; offset += kSegment) {
    const MPI_Count length = std::min(kSegment, bytes - offset);
    pack_segment(from_a, a.data, a.count, *a.type, offset, length);
    pack_segment(from_b, b.data, b.count, *b.type, offset, length);
    unpack_segment(a.data, a.count, *a.type, from_b, offset, length);
    unpack_segment(b.data, b.count, *b.type, from_a, offset, length);
  }
}

void swap_pair(Args& a, Args& b, int rank_a, int rank_b) {
  const Chunk of_a = a.recv.chunk(rank_b), of_b = b.recv.chunk(rank_a);
  if (of_a.bytes() > of_b.bytes()) b.error = MPI_ERR_TRUNCATE;
  if (of_b.bytes() > of_a.bytes()) a.error = MPI_ERR_TRUNCATE;
  swap_chunks(of_a, of_b, std::min(of_a.bytes(), of_b.bytes()));
}

struct AlltoallSwap {
  static constexpr Amount kAmount = Amount::kBlock;
  static void contribute(Call& call) { show_arguments(call); }

  static void work(Call& call, SharedBarrier::Leader& leader) {
    Args* const* members = members_of(call);
    const int n = call.comm.size;
    for (int i = leader.group(); i < n; i += leader.groups()) {  // dealt out: small ranks have more pairs
      for (int j = i + 1; j < n; ++j) swap_pair(*members[i], *members[j], i, j);
    }
  }
};

}  // namespace

constinit const Algorithm algorithm::kAlltoallSwap{.collective = Collective::kAlltoall,
                                                   .name = "swap",
                                                   .needs = conditions<kOneNode, kInPlace>,
                                                   .forms = all_together<AlltoallSwap>};

}  // namespace tmpi::mpi
