// Alltoall, alltoallv, alltoallw: when all are there, each lane's leader fills the receive buffers of its
// share of the members straight from the members' send buffers. If all that each member sends fits into its
// cell, it lies there, and each member takes its chunks when it wakes: that saves the leaders' second round.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "mpi/coll/algorithms.hpp"
#include "mpi/shm/coll_shared.hpp"

namespace tmpi::mpi {
namespace {

// Receivers that are filled together: their chunks in one sender's buffer are neighbours, and a line per
// receiver stays in the cache.
constexpr int kTile = 16;

// Bytes of each chunk if all chunks are alike and contiguous, else -1.
MPI_Count plain_chunk(const Side& side) noexcept {
  return !side.counts && side.type->contiguous() ? side.whole().bytes() : -1;
}

// The common case without looking at layouts chunk by chunk; false if it is another case.
bool copy_plain(Args* const* members, const Side& from, int sender, int first, int last) {
  const MPI_Count bytes = plain_chunk(from);
  for (int receiver = first; receiver < last; ++receiver) {
    if (plain_chunk(members[receiver]->recv) != bytes) return false;
  }
  if (bytes <= 0) return bytes == 0;
  const auto* source = static_cast<const std::byte*>(from.data);
  for (int receiver = first; receiver < last; ++receiver) {
    copy_bytes(static_cast<std::byte*>(members[receiver]->recv.data) + sender * bytes,
               source + receiver * bytes, bytes);
  }
  return true;
}

void fill_tile(Args* const* members, int n, int first, int last) {
  for (int sender = 0; sender < n; ++sender) {
    const Side& from = members[sender]->send;
    if (copy_plain(members, from, sender, first, last)) continue;
    for (int receiver = first; receiver < last; ++receiver) {
      Args& to = *members[receiver];
      if (!copy_chunk(to.recv.chunk(sender), from.chunk(receiver))) to.error = MPI_ERR_TRUNCATE;
    }
  }
}

// A cell holds the bytes of a chunk and all chunks; of the v-variants where each chunk begins, where the last
// one ends, and all chunks.
constexpr MPI_Count kHead = sizeof(MPI_Count);

bool leave_in_cell(std::byte* cell, MPI_Count room, const Side& send, int n) {
  const MPI_Count bytes = send.whole().bytes();
  if (bytes > (room - kHead) / n) return false;
  std::memcpy(cell, &bytes, kHead);
  pack_chunk(cell + kHead, {send.data, n * send.count, send.type});
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

void take(const std::byte* cell, MPI_Count room, Args& to, int n, int rank) {
  for (int sender = 0; sender < n; ++sender, cell += room) {
    MPI_Count bytes, place;
    if (to.ragged) {
      const auto* begins = reinterpret_cast<const std::uint16_t*>(cell);
      place = begins[rank];
      bytes = begins[rank + 1] - place;
    } else {
      std::memcpy(&bytes, cell, kHead);
      place = kHead + rank * bytes;
    }
    if (!unpack_chunk(to.recv.chunk(sender), cell + place, bytes)) to.error = MPI_ERR_TRUNCATE;
  }
}

}  // namespace

void algorithm::end_alltoall_pull(Comm& comm, Args& args) {
  Meeting& meeting = meeting_of(comm);
  const std::uint64_t sequence = comm.coll_sequence - 1;
  if (meeting.worked(sequence)) return;
  take(meeting.cells(sequence), meeting.layout().cell_bytes, args, comm.size, comm.rank);
}

Err algorithm::alltoall_pull(Comm& comm, Args& args) {
  Meeting& meeting = meeting_of(comm);
  const std::uint64_t sequence = comm.coll_sequence++;
  Args** members = meeting.records<Args>(sequence);
  members[comm.rank] = &args;
  const MPI_Count room = meeting.layout().cell_bytes;
  std::byte* cell = meeting.cells(sequence) + comm.rank * room;
  const bool large = !(args.ragged ? leave_ragged : leave_in_cell)(cell, room, args.send, comm.size);
  const auto fill_all = [&, n = comm.size](int lane, int lanes) {
    const Share receivers = share_of(n, lane, lanes);
    for (int first = static_cast<int>(receivers.first); first < receivers.last; first += kTile) {
      fill_tile(members, n, first, std::min(first + kTile, static_cast<int>(receivers.last)));
    }
  };
  if (!meeting.meet_and_work_if(large, sequence, fill_all, args.guest)) return kOk;
  end_alltoall_pull(comm, args);
  return error_of(args);
}

}  // namespace tmpi::mpi
