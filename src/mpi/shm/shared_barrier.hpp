// The shared-memory barrier: where all members of a communicator in a node process come together, for every
// collective in which each result depends on each member. rank -> worker group -> node: a member counts
// itself in on its group and waits; the last of a group (the group's *leader*, for this time) counts the
// group in; the last leader knows that everybody is there. Data is handed over through records (a pointer to
// each member's arguments) or cells (small data itself). Leaders do all the work for the members that wait,
// and let their own group go on.
//
// A member that cannot sleep, because it is a nonblocking collective without a flow of control of its own,
// leaves a continuation behind (arrivals.hpp). But the leader of one group among several has to wait for the
// others, so it must not come without a flow of control: admits_continuation().
//
// One member's visits are numbered by comm.coll_sequence. Records and cells exist twice, used in turn:
// whoever comes to barrier s + 2 knows that everybody came to s + 1, hence has done with s. Any member; no
// allocation after the first use of records or cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/platform.hpp"
#include "mpi/comm/hints.hpp"
#include "mpi/shm/arrivals.hpp"
#include "mpi/shm/cells.hpp"
#include "mpi/shm/stamp.hpp"
#include "mpi/shm/worker_groups.hpp"

namespace tmpi::mpi {

class SharedBarrier {
 public:
  explicit SharedBarrier(const WorkerGroups& groups);

  const WorkerGroups& groups() const noexcept { return groups_; }

  /// One pointer per member for barrier `sequence`: members write their own entry before they arrive, anybody
  /// reads all afterwards.
  template <class Record>
  Record** records(std::uint64_t sequence) {
    return reinterpret_cast<Record**>(
        rounds_[sequence & 1].records.get(static_cast<std::size_t>(groups_.members)));
  }
  /// cell_limit(members) bytes per member, likewise; aligned to a cache line.
  std::byte* cells(std::uint64_t sequence) {
    return rounds_[sequence & 1].cells.get(cells_size(groups_.members));
  }

  /// True: the calling member may leave a continuation now.
  bool admits_continuation() const noexcept {
    // It would proceed on the leader's worker, while its rank may run on another one.
    if (sched::tasks_move()) return false;
    return groups_.count() == 1 || !group(groups_.mine()).arrivals.one_missing();
  }

  /// A group's leader while it works for the members, at the same time as the other groups' leaders.
  class Leader;

  /// The caller comes as a member of `comm` with its stamp, which must be that of the others. The last member
  /// to come runs `last()` (on its fiber; must not suspend) before anybody goes on. True: it is over. False:
  /// `continuation` (null: the caller waits) has been left behind. SUSPENDS without one.
  template <class Last>
  [[gnu::always_inline]] bool arrive(const Comm& comm, Stamp stamp, Last&& last,
                                     WaitingContinuation* continuation = nullptr) {
    Group& mine = group(groups_.mine());
    GroupGuard guard(mine.lock);
    mine.stamp.meet(mine.arrivals, comm, stamp);
    if (!mine.arrivals.count()) return mine.arrivals.waiting.wait(continuation, [&] { guard.unlock(); });
    guard.unlock();
    lead(mine, comm, last);
    return true;
  }

  /// When all are there, the leader of each group runs `work(Leader&)` on its fiber; when all of these are
  /// done, everybody goes on. Returns as arrive(). SUSPENDS without a continuation.
  template <class Work>
  bool arrive_and_work(const Comm& comm, Stamp stamp, Work&& work, WaitingContinuation* continuation);

  /// The same if any member of barrier `sequence` says that work is `needed`; if none does, without the
  /// second round of leaders. worked() then tells everybody which it was.
  template <class Work>
  bool arrive_and_work_if(const Comm& comm, Stamp stamp, bool needed, std::uint64_t sequence, Work&& work,
                          WaitingContinuation* continuation);
  bool worked(std::uint64_t sequence) const noexcept { return rounds_[sequence & 1].worked; }

 private:
  // What a leader of another group needs of it lies in its first cache line.
  struct alignas(kCacheLine) Group {
    GroupArrivals arrivals;
    std::optional<sched::Waiter> leader;  // waits for the last one, which reads it and the stamp
    GroupStamp stamp;                     // written before the leader counts its group in
    bool needed = false;  // a member of the group needs arrive_and_work_if()'s work; taken by the last leader
    SpinLock lock;        // GroupGuard's
  };
  struct Round {
    LazyArray<void*> records;
    LazyArray<std::byte> cells;
    bool worked = false;  // written by the last leader; read until the barrier after the next
  };

  Group& group(int index) const noexcept { return members_[static_cast<std::size_t>(index)]; }

  void end_step(const Comm& comm) const noexcept {
    if (sched::plans() && ends_steps(comm)) [[unlikely]]
      sched::step_done(groups_.members);
  }

  // What the last of a group does, once for all of its members.
  template <class Last>
  void lead(Group& mine, const Comm& comm, Last&& last) {
    join(mine, last, &comm);
    mine.arrivals.waiting.resume_all();
  }

  // Leaders wait for each other; the last one runs `last()` first. With `comm`, of which it is a member: it
  // compares the groups' stamps before.
  template <class Last>
  [[gnu::always_inline]] void join(Group& mine, Last&& last, const Comm* comm = nullptr) {
    const int groups = groups_.count();
    if (groups == 1) {
      if (comm != nullptr) end_step(*comm);
      return last();
    }
    mine.leader.emplace(1);
    if (!complete_.count(groups)) {
      mine.leader->wait();
      return;
    }
    for (int i = 0; comm != nullptr && i < groups; ++i) group(i).stamp.compare(*comm, mine.stamp.stamp());
    if (comm != nullptr) end_step(*comm);
    last();
    for (int i = 0; i < groups; ++i) {
      if (&group(i) != &mine) group(i).leader->complete();
    }
  }

  const WorkerGroups groups_;
  std::unique_ptr<Group[]> members_;  // by group
  Round rounds_[2];
  alignas(kCacheLine) CompleteGroups complete_;
};

class SharedBarrier::Leader {
 public:
  int group() const noexcept { return index_; }
  int groups() const noexcept { return barrier_.groups_.count(); }
  /// Waits until all groups' leaders have come here. SUSPENDS.
  void join() {
    barrier_.join(mine_, [] {});
  }
  /// The same when the members have just come, all of which are to have the same stamp.
  void join_first(const Comm& comm) {
    barrier_.join(
        mine_, [] {}, &comm);
  }

 private:
  friend class SharedBarrier;
  Leader(SharedBarrier& barrier, int index) noexcept
      : barrier_(barrier), mine_(barrier.group(index)), index_(index) {}
  SharedBarrier& barrier_;
  Group& mine_;
  const int index_;
};

template <class Work>
bool SharedBarrier::arrive_and_work(const Comm& comm, Stamp stamp, Work&& work,
                                    WaitingContinuation* continuation) {
  Leader leader(*this, groups_.mine());
  Group& mine = leader.mine_;
  GroupGuard guard(mine.lock);
  mine.stamp.meet(mine.arrivals, comm, stamp);
  if (!mine.arrivals.count()) return mine.arrivals.waiting.wait(continuation, [&] { guard.unlock(); });
  guard.unlock();
  leader.join_first(comm);
  work(leader);
  leader.join();
  mine.arrivals.waiting.resume_all();
  return true;
}

template <class Work>
bool SharedBarrier::arrive_and_work_if(const Comm& comm, Stamp stamp, bool needed, std::uint64_t sequence,
                                       Work&& work, WaitingContinuation* continuation) {
  Leader leader(*this, groups_.mine());
  Group& mine = leader.mine_;
  GroupGuard guard(mine.lock);
  mine.stamp.meet(mine.arrivals, comm, stamp);
  mine.needed |= needed;
  if (!mine.arrivals.count()) return mine.arrivals.waiting.wait(continuation, [&] { guard.unlock(); });
  guard.unlock();
  bool& worked = rounds_[sequence & 1].worked;
  join(
      mine,
      [&] {
        worked = false;
        for (int i = 0; i < groups_.count(); ++i) worked |= std::exchange(group(i).needed, false);
      },
      &comm);
  if (worked) {
    work(leader);
    leader.join();
  }
  mine.arrivals.waiting.resume_all();
  return true;
}

}  // namespace tmpi::mpi
