// The buffers of a CheckedCall: which memory the operation reads and writes, and who else does.
#include <algorithm>
#include <mutex>

#include "check/checked_call.hpp"
#include "check/misuse.hpp"
#include "mpi/comm/topology.hpp"

namespace tmpi::check {

void CheckedCall::touch(int buffer, MPI_Count times, int count, int type, bool writes) {
  std::optional<Access> access =
      make_access(pointer<const void*>(buffer), times * number(count), pointer<MPI_Datatype>(type), writes);
  if (access) accesses_[static_cast<std::size_t>(access_count_++)] = *std::move(access);
}

void CheckedCall::find_accesses() {
  const Places& at = function_.at;
  switch (function_.traffic) {
    case Traffic::kNone:
      return;
    case Traffic::kSend:
      if (number(at.dest) != MPI_PROC_NULL) touch(at.buffer, 1, at.count, at.type, false);
      return;
    case Traffic::kReceive:
      if (at.message >= 0 && word(at.message) == 0) return;
      if (at.message >= 0 ? predefined(*pointer<const void* const*>(at.message))
                          : number(at.source) == MPI_PROC_NULL)
        return;
      return touch(at.buffer, 1, at.count, at.type, true);
    case Traffic::kSendReceive:
      if (number(at.dest) != MPI_PROC_NULL) touch(at.buffer, 1, at.count, at.type, false);
      if (number(at.source) != MPI_PROC_NULL)
        touch(at.receive_buffer, 1, at.receive_count, at.receive_type, true);
      return;
    case Traffic::kReplace:
      if (number(at.dest) != MPI_PROC_NULL || number(at.source) != MPI_PROC_NULL)
        touch(at.buffer, 1, at.count, at.type, number(at.source) != MPI_PROC_NULL);
      return;
    case Traffic::kFileRead:
    case Traffic::kFileWrite:
      return touch(at.buffer, 1, at.count, at.type, function_.traffic == Traffic::kFileRead);
    default:
      break;
  }
  const mpi::Comm* members = comm_of(*record_->rank, comm());
  if (members == nullptr || members->inter()) return;  // between groups it depends on the side
  find_rooted_accesses(*members, at.root >= 0 && number(at.root) == members->rank);
}

void CheckedCall::find_rooted_accesses(const mpi::Comm& members, bool is_root) {
  const Places& at = function_.at;
  const int size = members.size;
  switch (function_.traffic) {
    case Traffic::kBcast:
      return touch(at.buffer, 1, at.count, at.type, !is_root);
    case Traffic::kReduce:
      touch(at.buffer, 1, at.count, at.type, false);
      if (is_root) touch(at.receive_buffer, 1, at.count, at.type, true);
      return;
    case Traffic::kReduceAll:
      touch(at.buffer, 1, at.count, at.type, false);
      return touch(at.receive_buffer, 1, at.count, at.type, true);
    case Traffic::kGather:
      if (pointer<const void*>(at.buffer) != MPI_IN_PLACE) touch(at.buffer, 1, at.count, at.type, false);
      if (is_root) touch(at.receive_buffer, size, at.receive_count, at.receive_type, true);
      return;
    case Traffic::kScatter:
      if (is_root) touch(at.buffer, size, at.count, at.type, false);
      if (pointer<const void*>(at.receive_buffer) != MPI_IN_PLACE)
        touch(at.receive_buffer, 1, at.receive_count, at.receive_type, true);
      return;
    case Traffic::kAllgather:
    case Traffic::kAlltoall:
      if (pointer<const void*>(at.buffer) != MPI_IN_PLACE)
        touch(at.buffer, function_.traffic == Traffic::kAlltoall ? size : 1, at.count, at.type, false);
      return touch(at.receive_buffer, size, at.receive_count, at.receive_type, true);
    case Traffic::kNeighborAllgather:
    case Traffic::kNeighborAlltoall:
      return find_neighbour_accesses(members);
    default:
      return;
  }
}

/// A chunk of MPI_PROC_NULL is not touched: a side that has one is left out.
void CheckedCall::find_neighbour_accesses(const mpi::Comm& members) {
  const Places& at = function_.at;
  const mpi::Neighbours* those = nullptr;
  if (mpi::neighbours(members, those)) return;  // the library refuses the call
  const auto all = [](const std::vector<int>& ranks) {
    return std::ranges::count(ranks, MPI_PROC_NULL) == 0 ? static_cast<MPI_Count>(ranks.size()) : 0;
  };
  const bool one = function_.traffic == Traffic::kNeighborAllgather;
  touch(at.buffer, one ? !those->destinations.empty() : all(those->destinations), at.count, at.type, false);
  touch(at.receive_buffer, all(those->sources), at.receive_count, at.receive_type, true);
}

void CheckedCall::check_accesses() {
  // A persistent operation touches nothing before it is started.
  if (function_.lifetime == Lifetime::kPersistent) return;
  for (int i = 0; i < access_count_; ++i) check_access(accesses_[static_cast<std::size_t>(i)]);
  if (function_.traffic == Traffic::kSendReceive && access_count_ == 2 && overlap(accesses_[0], accesses_[1]))
    report_overlap(*record_, place(), accesses_[1], place(), accesses_[0]);
}

void CheckedCall::check_access(const Access& access) {
  Access other;
  CallPlace made;
  {
    const std::lock_guard guard(record_->lock);
    const PendingBuffers::Entry* found = record_->pending.conflict(access);
    if (found == nullptr) [[likely]]
      return;
    other = *found->access;
    made = found->owner->made;
  }
  report_overlap(*record_, place(), access, made, other);
}

void CheckedCall::start_requests() {
  for (std::size_t i = 0; i < saved_count_; ++i) {
    std::array<Access, 2> accesses;
    int count = 0;
    {
      const std::lock_guard guard(record_->lock);
      const Tracked* request = still_there(saved(i));
      if (request == nullptr || request->operation == nullptr || request->operation->pending) continue;
      accesses = request->operation->accesses;
      count = request->operation->count;
    }
    for (int k = 0; k < count; ++k) check_access(accesses[static_cast<std::size_t>(k)]);
    const std::lock_guard guard(record_->lock);
    if (Tracked* request = still_there(saved(i))) record_->begin_operation(*request);
  }
}

}  // namespace tmpi::check
