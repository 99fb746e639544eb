// Lanes: the members of a communicator grouped by the worker they run on. Members of one lane never run at
// the same time, so what belongs to a lane is touched without atomics, by that worker's thread only; across
// lanes there is one atomic per collective.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi.h"
#include "mpi/comm/group.hpp"
#include "sched/scheduler.hpp"
#include "sched/waiter.hpp"

namespace tmpi::mpi {

inline constexpr std::size_t kCacheLine = 64;

/// Which member belongs to which lane, fixed for the communicator's life. When ranks will migrate between
/// workers (not yet), they must not do so while their communicators count on their lanes: lay the lanes out
/// anew, or count with atomics.
struct LaneLayout {
  int members = 0;                            ///< of the communicator, wherever they live
  int nodes = 1;                              ///< 2: there are members outside this node process
  MPI_Count cell_bytes = 0;                   ///< = cell_limit(members), kept here for the hot path
  std::vector<int> expected;                  ///< members of each lane: those in this node process
  std::vector<std::uint16_t> lane_of_worker;  ///< dense lane index by worker

  int lanes() const noexcept { return static_cast<int>(expected.size()); }
  /// Lane of the calling rank. Not to be kept across a scheduling point.
  int mine() const noexcept { return lane_of_worker[static_cast<std::size_t>(sched::current_worker())]; }
};

/// O(members). Every member's task must exist.
LaneLayout lay_out_lanes(const Group& group);

/// A member that is not yet done with a collective, linked into a list that only one worker touches (or a
/// lock guards).
struct Sleeper {
  Sleeper* next = nullptr;
  sched::Waiter* waiter = nullptr;  ///< of a flow of control; null: a Guest
};

/// A flow of control that sleeps; lies on its stack.
struct SleepingFlow : Sleeper {
  sched::Waiter own{1};
  SleepingFlow() noexcept { waiter = &own; }
};

/// What a nonblocking collective leaves behind instead of a flow of control that sleeps. Not for the lists
/// that another worker may wake.
struct Guest : Sleeper {
  bool waits = false;             ///< it has been left behind
  void (*over)(Guest&) noexcept;  ///< called instead of a wake-up, by a flow on the guest's worker; must not
                                  ///< suspend; the guest may be gone afterwards
  explicit Guest(void (*then)(Guest&) noexcept) noexcept : over(then) {}
};

/// First come, first woken, so that a fifo scheduler keeps the ranks' order.
class SleeperList {
 public:
  void push(Sleeper& sleeper) noexcept {
    sleeper.next = nullptr;
    (last_ != nullptr ? last_->next : first_) = &sleeper;
    last_ = &sleeper;
  }
  /// Wakes all; a sleeper may be gone as soon as it is woken, the list may be used again at once.
  void wake_all() noexcept {
    Sleeper* sleeper = first_;
    first_ = last_ = nullptr;
    while (sleeper != nullptr) {
      Sleeper* next = sleeper->next;
      if (sleeper->waiter != nullptr) [[likely]] {
        sleeper->waiter->complete();
      } else {
        Guest& guest = *static_cast<Guest*>(sleeper);
        guest.over(guest);
      }
      sleeper = next;
    }
  }

 private:
  Sleeper* first_ = nullptr;
  Sleeper* last_ = nullptr;
};

/// The part [first, last) of `total` units that is lane `lane`'s share of the work.
struct Share {
  MPI_Count first;
  MPI_Count last;
};
inline Share share_of(MPI_Count total, int lane, int lanes) noexcept {
  return {total * lane / lanes, total * (lane + 1) / lanes};
}

}  // namespace tmpi::mpi
