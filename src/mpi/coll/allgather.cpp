// Allgather and allgatherv: when all are there, each worker group's leader fills the receive buffers of its
// share of the members straight from the members' send buffers. If what each member sends fits into its cell,
// which members of allgatherv know of themselves only, it lies there, and each member takes it when it goes
// on: that saves the leaders' second round.
#include <algorithm>
#include <cstring>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/steps.hpp"

namespace tmpi::mpi {
namespace {

// What member i contributes.
Chunk contribution(const Args& member, int i) {
  return member.in_place ? member.recv.chunk(i) : member.send.whole();
}

// Senders whose arguments are looked at together: they lie in the senders' stacks, where most of them compete for a few
// lines of the cache.
constexpr int kTile = 128;

void fill(Args* const* members, int n, int begin, int end) {
  Chunk chunks[kTile];
  for (int first = 0; first < n; first += kTile) {
    const int last = std::min(first + kTile, n);
    for (int i = first; i < last; ++i) chunks[i - first] = contribution(*members[i], i);
    for (int target = begin; target < end; ++target) {
      Args& to = *members[target];
      for (int i = first; i < last; ++i) {
        if (i == target && to.in_place) continue;
        if (!copy_chunk(to.recv.chunk(i), chunks[i - first])) to.error = MPI_ERR_TRUNCATE;
      }
    }
  }
}

bool same_contiguous_block(const Side& a, const Side& b) {
  return !a.counts && !b.counts && a.type->contiguous() && b.type->contiguous() &&
         a.whole().bytes() == b.whole().bytes();
}

// The same bytes as a neighbour's finished buffer, without my own chunk if that is in place already (others
// may be reading it).
void fill_from(const Args& model, Args& to, int n, int target) {
  const auto chunk = static_cast<std::size_t>(to.recv.whole().bytes());
  const auto* from = static_cast<const std::byte*>(model.recv.data);
  auto* data = static_cast<std::byte*>(to.recv.data);
  const std::size_t before = chunk * static_cast<std::size_t>(target),
                    all = chunk * static_cast<std::size_t>(n);
  const std::size_t skip = to.in_place ? chunk : 0;
  if (before > 0) std::memcpy(data, from, before);
  if (all > before + skip) std::memcpy(data + before + skip, from + before + skip, all - before - skip);
  to.error = model.error;
}

constexpr MPI_Count kPrefix = sizeof(MPI_Count);  // before the data in a cell: its bytes

bool leave_in_cell(std::byte* cell, MPI_Count room, const Chunk& mine) {
  const MPI_Count bytes = mine.bytes();
  if (kPrefix + bytes > room) return false;
  std::memcpy(cell, &bytes, kPrefix);
  pack_chunk(cell + kPrefix, mine);
  return true;
}

// Of allgatherv, whose n * n chunks are looked at one by one: what all have in common is looked up once (by the loop below
// 256 ranks take 1.3 times as long).
void take_contiguous(const std::byte* cell, MPI_Count room, Args& to, int n, int rank) {
  const Numbers counts = to.recv.counts, displs = to.recv.displs;
  const MPI_Count size = to.recv.type->size(), extent = to.recv.type->extent();
  auto* const data = static_cast<std::byte*>(to.recv.data);
  const int own = to.in_place ? rank : -1;
  bool fits = true;
  for (int i = 0; i < n; ++i, cell += room) {
    if (i == own) continue;
    MPI_Count bytes;
    std::memcpy(&bytes, cell, kPrefix);
    const MPI_Count expected = counts[i] * size;
    fits &= bytes == expected;
    copy_bytes(data + displs[i] * extent, cell + kPrefix, std::min(bytes, expected));
  }
  if (!fits) to.error = MPI_ERR_TRUNCATE;
}

void take_from_cells(const std::byte* cell, MPI_Count room, Args& to, int n, int rank) {
  if (to.recv.counts && to.recv.type->contiguous()) return take_contiguous(cell, room, to, n, rank);
  for (int i = 0; i < n; ++i, cell += room) {
    if (i == rank && to.in_place) continue;
    MPI_Count bytes;
    std::memcpy(&bytes, cell, kPrefix);
    if (!unpack_chunk(to.recv.chunk(i), cell + kPrefix, bytes)) to.error = MPI_ERR_TRUNCATE;
  }
}

struct AllgatherPull {
  static constexpr Amount kAmount = Amount::kBlock;
  // Whether the leaders have to copy: my chunk is too large for a cell.
  static bool contribute(Call& call) {
    show_arguments(call);
    const MPI_Count room = barrier_of(call.comm).groups().cell_bytes;
    const int rank = call.comm.rank;
    return !leave_in_cell(cells_of(call) + rank * room, room, contribution(call.args, rank));
  }

  static void work(Call& call, SharedBarrier::Leader& leader) {
    Args* const* members = members_of(call);
    const int n = call.comm.size;
    const Share share = share_of(n, leader.group(), leader.groups());
    const int first = static_cast<int>(share.first), last = static_cast<int>(share.last);
    if (call.args.ragged) return fill(members, n, first, last);
    for (int target = first; target < last; ++target) {
      const Args& model = *members[first];
      if (target > first && same_contiguous_block(model.recv, members[target]->recv)) {
        fill_from(model, *members[target], n, target);
      } else {
        fill(members, n, target, target + 1);
      }
    }
  }

  static void finish(Call& call) {
    take_from_cells(cells_of(call), barrier_of(call.comm).groups().cell_bytes, call.args, call.comm.size,
                    call.comm.rank);
  }
};

}  // namespace

constinit const Algorithm algorithm::kAllgatherPull{.collective = Collective::kAllgather,
                                                    .name = "pull",
                                                    .needs = conditions<kOneNode>,
                                                    .preferred_for = conditions<kButPairUpTo<32>>,
                                                    .forms = all_together<AllgatherPull>};

}  // namespace tmpi::mpi
