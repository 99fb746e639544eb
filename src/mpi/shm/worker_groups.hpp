// Worker groups: the members of a communicator grouped by the worker on which they have begun. In a job whose ranks
// stay there, members of one group never run at the same time, so what belongs to a group is touched without
// atomics, by that worker's thread only; across groups there is one atomic per collective. If ranks move
// (sched/move.hpp), they stay members of their group, and a lock guards what belongs to it (GroupGuard).
#pragma once

#include <cstdint>
#include <vector>

#include "base/spinlock.hpp"
#include "mpi.h"
#include "mpi/comm/group.hpp"
#include "sched/move.hpp"

namespace tmpi::mpi {

/// Which member belongs to which group, fixed for the communicator's life.
struct WorkerGroups {
  int members = 0;                             ///< of the communicator, wherever they live
  int nodes = 1;                               ///< 2: there are members outside this node process
  MPI_Count cell_bytes = 0;                    ///< = cell_limit(members), kept here for the hot path
  std::vector<int> sizes;                      ///< members of each group: those in this node process
  std::vector<std::uint16_t> group_of_worker;  ///< dense group index by worker

  int count() const noexcept { return static_cast<int>(sizes.size()); }
  /// Group of the calling rank.
  int mine() const noexcept { return group_of_worker[static_cast<std::size_t>(sched::home_of_current())]; }
};

/// Guards what belongs to a group, if more than one worker's thread may touch it; not across a scheduling point.
class GroupGuard {
 public:
  explicit GroupGuard(SpinLock& lock) noexcept : lock_(sched::tasks_move() ? &lock : nullptr) {
    if (lock_ != nullptr) [[unlikely]]
      lock_->lock();
  }
  ~GroupGuard() { unlock(); }
  GroupGuard(const GroupGuard&) = delete;
  GroupGuard& operator=(const GroupGuard&) = delete;
  void unlock() noexcept {
    if (lock_ != nullptr) [[unlikely]]
      lock_->unlock();
    lock_ = nullptr;
  }

 private:
  SpinLock* lock_;
};

/// O(members). Every member's task must exist.
WorkerGroups group_by_worker(const Group& group);

/// The part [first, last) of `total` units that is the share of worker group `group` in the work.
struct Share {
  MPI_Count first;
  MPI_Count last;
};
inline Share share_of(MPI_Count total, int group, int groups) noexcept {
  return {total * group / groups, total * (group + 1) / groups};
}

}  // namespace tmpi::mpi
