// Alltoall, alltoallv, alltoallw: when all are there, each worker group's leader fills the receive buffers of
// its share of the members straight from the members' send buffers. If all that each member sends fits into
// its cell, it lies there, and each member takes its chunks when it goes on: that saves the leaders' second
// round.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/steps.hpp"

namespace tmpi::mpi {
namespace {

// Receivers that are filled together: their chunks in one sender's buffer are neighbours, and a line per
// receiver stays in the cache.
constexpr int kTile = 16;

// Bytes of each chunk if all chunks are alike and contiguous, else -1.
MPI_Count plain_chunk(const Side& side) noexcept {
  return !side.counts && side.type->contiguous() ? side.whole().bytes() : -1;
}

void fill_tile(Args* const* members, int n, int first, int last) {
  // The receivers' arguments lie in their stacks, where most of them compete for a few lines of the cache: they are
  // looked at once, not for each sender.
  std::byte* to[kTile];
  MPI_Count bytes = plain_chunk(members[first]->recv);
  for (int receiver = first; receiver < last; ++receiver) {
    const Side& side = members[receiver]->recv;
    to[receiver - first] = static_cast<std::byte*>(side.data);
    if (plain_chunk(side) != bytes) bytes = -1;
  }
  for (int sender = 0; sender < n; ++sender) {
    const Side& from = members[sender]->send;
    if (bytes >= 0 && plain_chunk(from) == bytes) {
      const auto* const source = static_cast<const std::byte*>(from.data);
      for (int receiver = first; receiver < last; ++receiver)
        copy_bytes(to[receiver - first] + sender * bytes, source + receiver * bytes, bytes);
      continue;
    }
    for (int receiver = first; receiver < last; ++receiver) {
      Args& member = *members[receiver];
      if (!copy_chunk(member.recv.chunk(sender), from.chunk(receiver))) member.error = MPI_ERR_TRUNCATE;
    }
  }
}

// A cell holds the bytes of a chunk and all chunks; of the v-variants where each chunk begins, where the last
// one ends, and all chunks.
constexpr MPI_Count kPrefix = sizeof(MPI_Count);

bool leave_in_cell(std::byte* cell, MPI_Count room, const Side& send, int n) {
  const MPI_Count bytes = send.whole().bytes();
  if (bytes > (room - kPrefix) / n) return false;
  std::memcpy(cell, &bytes, kPrefix);
  pack_chunk(cell + kPrefix, {send.data, n * send.count, send.type});
  return true;
}

bool leave_ragged(std::byte* cell, MPI_Count room, const Side& send, int n) {
  auto* begins = reinterpret_cast<std::uint16_t*>(cell);
  MPI_Count place = static_cast<MPI_Count>(sizeof *begins) * (n + 1);
  if (place > room) return false;
  for (int i = 0; i < n; ++i) {
    const Chunk chunk = send.chunk(i);
    begins[i] = static_cast<std::uint16_t>(place);
    if (place + chunk.bytes() > room) return false;
    pack_chunk(cell + place, chunk);
    place += chunk.bytes();
  }
  begins[n] = static_cast<std::uint16_t>(place);
  return true;
}

void take_chunks(const std::byte* cell, MPI_Count room, Args& to, int n, int rank) {
  for (int sender = 0; sender < n; ++sender, cell += room) {
    MPI_Count bytes, place;
    if (to.ragged) {
      const auto* begins = reinterpret_cast<const std::uint16_t*>(cell);
      place = begins[rank];
      bytes = begins[rank + 1] - place;
    } else {
      std::memcpy(&bytes, cell, kPrefix);
      place = kPrefix + rank * bytes;
    }
    if (!unpack_chunk(to.recv.chunk(sender), cell + place, bytes)) to.error = MPI_ERR_TRUNCATE;
  }
}

struct AlltoallPull {
  static constexpr Amount kAmount = Amount::kBlock;
  // Whether the leaders have to copy: my chunks are too large for a cell.
  static bool contribute(Call& call) {
    show_arguments(call);
    const MPI_Count room = barrier_of(call.comm).groups().cell_bytes;
    std::byte* cell = cells_of(call) + call.comm.rank * room;
    return !(call.args.ragged ? leave_ragged : leave_in_cell)(cell, room, call.args.send, call.comm.size);
  }

  static void work(Call& call, SharedBarrier::Leader& leader) {
    const int n = call.comm.size;
    const Share receivers = share_of(n, leader.group(), leader.groups());
    for (int first = static_cast<int>(receivers.first); first < receivers.last; first += kTile)
      fill_tile(members_of(call), n, first, std::min(first + kTile, static_cast<int>(receivers.last)));
  }

  static void finish(Call& call) {
    take_chunks(cells_of(call), barrier_of(call.comm).groups().cell_bytes, call.args, call.comm.size,
                call.comm.rank);
  }
};

}  // namespace

constinit const Algorithm algorithm::kAlltoallPull{.collective = Collective::kAlltoall,
                                                   .name = "pull",
                                                   .needs = conditions<kOneNode, kTwoBuffers>,
                                                   .preferred_for = conditions<kButPairUpTo<kKiB>>,
                                                   .forms = all_together<AlltoallPull>};

}  // namespace tmpi::mpi
