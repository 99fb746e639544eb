// Alltoall, alltoallv, alltoallw: when all are there, each lane's leader fills the receive buffers of its
// share of the members straight from the members' send buffers.
#include <algorithm>
#include <cstring>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/coll_shared.hpp"

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
  const auto size = static_cast<std::size_t>(bytes);
  for (int receiver = first; receiver < last; ++receiver) {
    std::memcpy(static_cast<std::byte*>(members[receiver]->recv.data) + sender * bytes,
                source + receiver * bytes, size);
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

}  // namespace

Err algorithm::alltoall_pull(Comm& comm, Args& args) {
  Meeting& meeting = meeting_of(comm);
  Args** members = meeting.records<Args>(comm.coll_sequence++);
  members[comm.rank] = &args;
  meeting.meet_and_work([&, n = comm.size](int lane, int lanes) {
    const Share receivers = share_of(n, lane, lanes);
    for (int first = static_cast<int>(receivers.first); first < receivers.last; first += kTile) {
      fill_tile(members, n, first, std::min(first + kTile, static_cast<int>(receivers.last)));
    }
  });
  return error_of(args);
}

}  // namespace tmpi::mpi
