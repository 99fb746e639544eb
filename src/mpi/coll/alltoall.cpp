// Alltoall, alltoallv, alltoallw: when all are there, each lane's leader fills the receive buffers of its share of the members straight
// from the members' send buffers.
#include <algorithm>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/coll_shared.hpp"

namespace tmpi::mpi {
namespace {

// Receivers that are filled together: their chunks in one sender's buffer are neighbours, and a line per receiver stays in the cache.
constexpr int kTile = 16;

void fill_tile(Args* const* members, int n, int first, int last) {
  for (int sender = 0; sender < n; ++sender) {
    const Side& from = members[sender]->send;
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
