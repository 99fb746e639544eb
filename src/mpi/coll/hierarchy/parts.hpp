// What the algorithms of this directory have in common.
#pragma once

#include <memory>
#include <vector>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/coll.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/hierarchy/hierarchy.hpp"
#include "mpi/coll/messages/messages.hpp"
#include "mpi/coll/stamps.hpp"
#include "mpi/shm/coll_shared.hpp"

namespace tmpi::mpi {

/// An error of one stage does not end an algorithm, on which the other members rely: the first one is kept.
class StageErrors {
 public:
  void add(Err error) noexcept {
    if (!first_) first_ = error;
  }
  Err result() const noexcept { return first_; }

 private:
  Err first_;
};

/// The members of a node come to its leader; the leader returns when all have come, the others at once.
/// SUSPENDS.
Err come_to_leader(Comm& node);

/// All members of a node read what its leader shows them: read(const std::byte*), each on its own, at the
/// same time, when the leader has come. The leader returns when all have done. SUSPENDS; `read` must not.
template <class Read>
void read_from_leader(Comm& node, const std::byte* shown_by_leader, Read&& read) {
  if (node.size == 1) return read(shown_by_leader);
  SlotRing& ring = ring_of(node);
  const Stamp stamp = stamp_of_reading(node);
  SlotRing::Slot& slot = ring.enter(node.rooted_sequence++);
  if (node.rank != 0) {
    ring.wait_for_release(slot);
    ring.expect(slot, node, stamp);
    read(static_cast<const std::byte*>(slot.record));
    return ring.leave(slot, node, stamp);
  }
  ring.claim(slot, node, stamp);
  slot.record = shown_by_leader;
  ring.release(slot);
  read(shown_by_leader);
  ring.leave_root(slot, node, stamp, true);
}

/// Counts and displacements of consecutive chunks, one for each node, or for each member of a part.
struct ConsecutiveChunks {
  explicit ConsecutiveChunks(int chunks) {
    counts.reserve(static_cast<std::size_t>(chunks));
    displs.reserve(static_cast<std::size_t>(chunks));
  }
  void add(MPI_Count count) {
    counts.push_back(count);
    displs.push_back(total);
    total += count;
  }
  MPI_Count at(int chunk) const noexcept { return displs[static_cast<std::size_t>(chunk)]; }
  Side side(void* data, const Datatype* type) const noexcept {
    return {.data = data, .type = type, .counts = counts.data(), .displs = displs.data()};
  }
  std::vector<MPI_Count> counts;
  std::vector<MPI_Count> displs;
  MPI_Count total = 0;
};

/// Room for packed data.
inline std::unique_ptr<std::byte[]> packed_room(MPI_Count bytes) {
  return std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
}

/// The vector that a member brings to a reduction, as the sending side of a part's reduction.
inline Side input_of(const Args& args) noexcept {
  return {.data = const_cast<std::byte*>(args.input()), .count = args.recv.count, .type = args.recv.type};
}

}  // namespace tmpi::mpi
