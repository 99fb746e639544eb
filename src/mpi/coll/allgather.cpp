// Allgather and allgatherv: when all are there, each lane's leader fills the receive buffers of its share of
// the members straight from the members' send buffers.
#include <cstring>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/coll_shared.hpp"

namespace tmpi::mpi {
namespace {

// What member i contributes.
Chunk contribution(const Args& member, int i) {
  return member.in_place ? member.recv.chunk(i) : member.send.whole();
}

void fill(Args* const* members, int n, int target) {
  Args& to = *members[target];
  for (int i = 0; i < n; ++i) {
    if (i == target && to.in_place) continue;
    if (!copy_chunk(to.recv.chunk(i), contribution(*members[i], i))) to.error = MPI_ERR_TRUNCATE;
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

}  // namespace

Err algorithm::allgather_pull(Comm& comm, Args& args) {
  Meeting& meeting = meeting_of(comm);
  Args** members = meeting.records<Args>(comm.coll_sequence++);
  members[comm.rank] = &args;
  meeting.meet_and_work([&, n = comm.size](int lane, int lanes) {
    const Share targets = share_of(n, lane, lanes);
    for (int target = static_cast<int>(targets.first); target < targets.last; ++target) {
      const Args& model = *members[targets.first];
      if (target > targets.first && same_contiguous_block(model.recv, members[target]->recv)) {
        fill_from(model, *members[target], n, target);
      } else {
        fill(members, n, target);
      }
    }
  });
  return error_of(args);
}

}  // namespace tmpi::mpi
