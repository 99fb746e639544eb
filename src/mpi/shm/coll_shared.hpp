// CollShared: where a communicator's members in this node process come together. Made with the communicator,
// filled at the first collective; a communicator that is never used for collectives costs a few words.
#pragma once

#include <memory>

#include "mpi/comm/comm.hpp"
#include "mpi/comm/node_map.hpp"
#include "mpi/shm/shadow_comm.hpp"
#include "mpi/shm/shared_barrier.hpp"
#include "mpi/shm/slot_ring.hpp"

namespace tmpi::mpi {

class CollShared {
 public:
  explicit CollShared(std::shared_ptr<const Group> group) : group_(std::move(group)) {}

  SharedBarrier& barrier() {
    return barrier_.get([this] { return new SharedBarrier(group_by_worker(*group_)); });
  }
  SlotRing& ring() {
    return ring_.get([this] { return new SlotRing(group_by_worker(*group_)); });
  }
  ShadowRegistry& shadows() {
    return shadows_.get([] { return new ShadowRegistry; });
  }
  /// Where the members live, and what those in this process have in common as a part (coll/hierarchy/) of the
  /// communicator with this context. Of members in several node processes only.
  const NodeMap& node_map() {
    return node_map_.get([this] { return new NodeMap(*group_); });
  }
  const std::shared_ptr<CommShared>& node_part(ContextId whole);
  /// Who comes here: of an intercommunicator both sides.
  const Group& group() const noexcept { return *group_; }
  /// The same for the same members once more.
  std::shared_ptr<CollShared> another() const { return std::make_shared<CollShared>(group_); }

 private:
  const std::shared_ptr<const Group> group_;
  LazyObject<SharedBarrier> barrier_;
  LazyObject<SlotRing> ring_;
  LazyObject<ShadowRegistry> shadows_;
  LazyObject<NodeMap> node_map_;
  LazyObject<std::shared_ptr<CommShared>> node_part_;
};

/// What the members in this node process of a new intracommunicator have in common.
std::shared_ptr<CommShared> make_comm_shared(ContextId context, std::shared_ptr<const Group> group);

inline SharedBarrier& barrier_of(Comm& comm) {
  return comm.shared->coll->barrier();
}
inline SlotRing& ring_of(Comm& comm) {
  return comm.shared->coll->ring();
}

}  // namespace tmpi::mpi
