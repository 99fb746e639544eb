// Shadow communicators: where the nonblocking and persistent collectives of a communicator run. A shadow
// looks like a communicator of the same members, with a shared-memory barrier, a slot ring, sequence numbers
// and a context of its own, so that every algorithm runs on it unchanged and never matches a blocking
// collective. Nonblocking operation i of a communicator belongs to shadow i mod kShadows; a persistent one
// has its own shadow, so members may start several of them in different orders. Contexts of shadows are
// derived from the communicator's, so nobody has to agree on them; persistent operations share one, where a
// number in the tags tells them apart. What a member runs on one shadow runs in order: on a helper fiber
// (sched/helper.hpp) that exists while there is something to do, or without one where it only waits
// (nonblocking.hpp). MPI report, 6.12 and 6.13.
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

class ShadowOperation;  // nonblocking.hpp

/// One member's view of a shadow communicator. Used by the member's own flows of control only.
struct ShadowComm {
  /// Shadow `number` of `parent`, which must outlive it. Numbers are given in the same order by all members.
  ShadowComm(Comm& parent, std::uint64_t number);

  Comm& parent;
  Comm comm;                          ///< what algorithms are given
  std::unique_ptr<ShadowComm> local;  ///< of an intercommunicator: where comm.local is
  ShadowOperation* first = nullptr;   ///< operations that have not begun, in order
  ShadowOperation* last = nullptr;
  bool helped = false;             ///< a helper fiber runs these operations
  bool continues = false;          ///< before these, one is under way that has left a continuation behind
  sched::Waiter* after = nullptr;  ///< the helper fiber that waits for that to end
};

/// One member's shadows of a communicator; made by its first nonblocking or persistent collective.
class ShadowComms {
 public:
  static constexpr std::size_t kShadows = 4;

  explicit ShadowComms(Comm& comm) : comm_(comm) {}

  /// The shadow of the next nonblocking collective.
  ShadowComm& next();
  /// A shadow for the next persistent collective; owned by it.
  std::unique_ptr<ShadowComm> dedicated() {
    return std::make_unique<ShadowComm>(comm_, kShadows + persistent_++);
  }

 private:
  Comm& comm_;
  std::array<std::unique_ptr<ShadowComm>, kShadows> shadows_;
  std::uint64_t nonblocking_ = 0;  // operations so far
  std::uint64_t persistent_ = 0;
};

ShadowComms& shadows_of(Comm& comm);

/// What the members of a communicator share of its shadows: the first to ask for a number makes it, and it is
/// kept here until all have taken it. Any thread.
class ShadowRegistry {
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
