// CollShared: the meeting places of a communicator's members in this node process. Made with the
// communicator, filled at the first collective; a communicator that is never used for collectives costs a few
// words.
#pragma once

#include <memory>

#include "mpi/coll/meeting.hpp"
#include "mpi/coll/relay.hpp"
#include "mpi/coll/track.hpp"
#include "mpi/comm/comm.hpp"

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
  /// Other meeting places for the same members.
  std::shared_ptr<CollShared> another() const { return std::make_shared<CollShared>(group_); }

 private:
  const std::shared_ptr<const Group> group_;
  LazyObject<Meeting> meeting_;
  LazyObject<Relay> relay_;
  LazyObject<TrackRegistry> tracks_;
};

inline Meeting& meeting_of(Comm& comm) {
  return comm.shared->coll->meeting();
}
inline Relay& relay_of(Comm& comm) {
  return comm.shared->coll->relay();
}

}  // namespace tmpi::mpi
