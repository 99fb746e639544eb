// Tracks: where the nonblocking and persistent collectives of a communicator run. A track looks like a
// communicator of the same members, with meeting places, sequence numbers and a context of its own, so that
// every algorithm runs on it unchanged and never meets a blocking collective. Nonblocking operation i of a
// communicator belongs to track i mod kTracks; a persistent one has its own track, so members may start
// several of them in different orders. Contexts of tracks are derived from the communicator's, so nobody has
// to agree on them; persistent operations share one, where a number in the tags tells them apart. What a
// member runs on one track runs in order, on a service (sched/helper.hpp) that exists while there is
// something to do. MPI report, 6.12 and 6.13.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "mpi/comm/comm.hpp"

namespace tmpi::sched {
class Waiter;
}

namespace tmpi::mpi {

class TrackOperation;  // nonblocking.hpp
struct Guest;          // lane.hpp

/// One member's view of a track. Used by the member's own flows of control only.
struct Track {
  /// Track `number` of `parent`, which must outlive it. Numbers are given in the same order by all members.
  Track(Comm& parent, std::uint64_t number);

  Comm& parent;
  Comm comm;                        ///< what algorithms are given
  std::unique_ptr<Track> local;     ///< of an intercommunicator: where comm.local is
  TrackOperation* first = nullptr;  ///< operations that have not begun, in order
  TrackOperation* last = nullptr;
  bool served = false;             ///< a service is at it, or waits for
  Guest* guest = nullptr;          ///< an operation that goes on without a service, and
  sched::Waiter* after = nullptr;  ///< whom to wake when it is over
};

/// One member's tracks of a communicator; made by its first nonblocking or persistent collective.
class Tracks {
 public:
  static constexpr std::size_t kTracks = 4;

  explicit Tracks(Comm& comm) : comm_(comm) {}

  /// The track of the next nonblocking collective.
  Track& next();
  /// A track for the next persistent collective; owned by it.
  std::unique_ptr<Track> dedicated() { return std::make_unique<Track>(comm_, kTracks + persistent_++); }

 private:
  Comm& comm_;
  std::array<std::unique_ptr<Track>, kTracks> tracks_;
  std::uint64_t nonblocking_ = 0;  // operations so far
  std::uint64_t persistent_ = 0;
};

Tracks& tracks_of(Comm& comm);

/// What the members of a communicator share of its tracks: the first to ask for a number makes it, and it is
/// kept here until all have taken it. Any thread.
class TrackRegistry {
 public:
  std::shared_ptr<CommShared> take(const Comm& parent, std::uint64_t number);

 private:
  struct Entry {
    std::shared_ptr<CommShared> sides[2];  // intracommunicators have the first only
    int left = 0;                          // members in this process that have not taken it
  };
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, Entry> entries_;
};

}  // namespace tmpi::mpi
