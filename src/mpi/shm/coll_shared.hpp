// CollShared: the meeting places of a communicator's members in this node process. Made with the
// communicator, filled at the first collective; a communicator that is never used for collectives costs a few
// words.
#pragma once

#include <memory>

#include "mpi/comm/comm.hpp"
#include "mpi/comm/node_map.hpp"
#include "mpi/shm/meeting.hpp"
#include "mpi/shm/relay.hpp"
#include "mpi/shm/track.hpp"

namespace tmpi::mpi {

class CollShared {
 public:
  explicit CollShared(std::shared_ptr<const Group> group) : group_(std::move(group)) {}

  Meeting& meeting() {
    return meeting_.get([this] { return new Meeting(lay_out_lanes(*group_)); });
  }
  Relay& relay() {
    return relay_.get([this] { return new Relay(lay_out_lanes(*group_)); });
  }
  TrackRegistry& tracks() {
    return tracks_.get([] { return new TrackRegistry; });
  }
  /// Where the members live, and what those in this process have in common as a part (coll/hierarchy/) of the
  /// communicator with this context. Of members in several node processes only.
  const NodeMap& node_map() {
    return node_map_.get([this] { return new NodeMap(*group_); });
  }
  const std::shared_ptr<CommShared>& node_part(ContextId whole);
  /// Who meets here: of an intercommunicator both sides.
  const Group& group() const noexcept { return *group_; }
  /// Other meeting places for the same members.
  std::shared_ptr<CollShared> another() const { return std::make_shared<CollShared>(group_); }

 private:
  const std::shared_ptr<const Group> group_;
  LazyObject<Meeting> meeting_;
  LazyObject<Relay> relay_;
  LazyObject<TrackRegistry> tracks_;
  LazyObject<NodeMap> node_map_;
  LazyObject<std::shared_ptr<CommShared>> node_part_;
};

/// What the members in this node process of a new intracommunicator have in common.
std::shared_ptr<CommShared> make_comm_shared(ContextId context, std::shared_ptr<const Group> group);

inline Meeting& meeting_of(Comm& comm) {
  return comm.shared->coll->meeting();
}
inline Relay& relay_of(Comm& comm) {
  return comm.shared->coll->relay();
}

}  // namespace tmpi::mpi
