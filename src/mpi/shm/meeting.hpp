// Meeting: where all members of a communicator come together in shared memory, for every collective in which
// each result depends on each member. rank -> lane -> node: a member counts itself in on its lane and sleeps;
// the last of a lane (the lane's *leader*, for this time) counts the lane in; the last leader knows that
// everybody is there. Data is handed over through records (a pointer to each member's arguments) or cells
// (small data itself). Leaders do all the work for the members who sleep, and wake their own lane.
//
// A member that cannot wait, because it is a nonblocking collective without a flow of control of its own,
// leaves a Guest behind instead of sleeping (nonblocking.hpp); but the leader of one lane among several has
// to wait for the others, so it must not come as a guest: admits_guest().
//
// One member's visits are numbered by comm.coll_sequence. Records and cells exist twice, used in turn:
// whoever comes to meeting s + 2 knows that everybody came to s + 1, hence has done with s. Any member; no
// allocation after the first use of records or cells.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "mpi/shm/cells.hpp"
#include "mpi/shm/lane.hpp"

namespace tmpi::mpi {

class Meeting {
 public:
  explicit Meeting(const LaneLayout& layout);

  const LaneLayout& layout() const noexcept { return layout_; }

  /// One pointer per member for meeting `sequence`: members write their own entry before they meet, anybody
  /// reads all afterwards.
  template <class Record>
  Record** records(std::uint64_t sequence) {
    return reinterpret_cast<Record**>(
        slots_[sequence & 1].records.get(static_cast<std::size_t>(layout_.members)));
  }
  /// cell_limit(members) bytes per member, likewise; aligned to a cache line.
  std::byte* cells(std::uint64_t sequence) {
    return slots_[sequence & 1].cells.get(cells_size(layout_.members));
  }

  /// True: the calling member may come as a guest now.
  bool admits_guest() const noexcept {
    if (layout_.lanes() == 1) return true;
    const Lane& lane = lanes_[static_cast<std::size_t>(layout_.mine())];
    return lane.arrived + 1 < lane.expected;
  }

  /// The last member to come runs `last()` (on its fiber; must not suspend) before anybody goes on. True: it
  /// is over. False: `guest` (null: the caller waits) has been left behind. SUSPENDS without a guest.
  template <class Last>
  bool meet(Last&& last, Guest* guest = nullptr) {
    Lane& lane = lanes_[static_cast<std::size_t>(layout_.mine())];
    if (!lead(lane, guest)) return guest == nullptr;
    join_leaders(lane, last);
    lane.sleepers.wake_all();
    return true;
  }

  /// When all are there, the leader of each lane runs `work(lane, lanes)` on its fiber (must not suspend);
  /// when all of these are done, everybody goes on. Returns as meet(). SUSPENDS without a guest.
  template <class Work>
  bool meet_and_work(Work&& work, Guest* guest) {
    const int index = layout_.mine();
    Lane& lane = lanes_[static_cast<std::size_t>(index)];
    if (!lead(lane, guest)) return guest == nullptr;
    join_leaders(lane, [] {});
    work(index, layout_.lanes());
    join_leaders(lane, [] {});
    lane.sleepers.wake_all();
    return true;
  }

  /// The same if any member of meeting `sequence` says that work is `needed`; if none does, without the
  /// second round of leaders. worked() then tells everybody which it was.
  template <class Work>
  bool meet_and_work_if(bool needed, std::uint64_t sequence, Work&& work, Guest* guest) {
    const int index = layout_.mine();
    Lane& lane = lanes_[static_cast<std::size_t>(index)];
    lane.needed |= needed;
    if (!lead(lane, guest)) return guest == nullptr;
    bool& worked = slots_[sequence & 1].worked;
    join_leaders(lane, [&] {
      worked = false;
      for (int i = 0; i < layout_.lanes(); ++i)
        worked |= std::exchange(lanes_[static_cast<std::size_t>(i)].needed, false);
    });
    if (worked) {
      work(index, layout_.lanes());
      join_leaders(lane, [] {});
    }
    lane.sleepers.wake_all();
    return true;
  }
  bool worked(std::uint64_t sequence) const noexcept { return slots_[sequence & 1].worked; }

  /// Work in two rounds: no `write` starts before every `read` is done. For results that overwrite arguments.
  template <class Read, class Write>
  bool meet_and_work(Read&& read, Write&& write, Guest* guest) {
    const int index = layout_.mine();
    Lane& lane = lanes_[static_cast<std::size_t>(index)];
    if (!lead(lane, guest)) return guest == nullptr;
    join_leaders(lane, [] {});
    read(index, layout_.lanes());
    join_leaders(lane, [] {});
    write(index, layout_.lanes());
    join_leaders(lane, [] {});
    lane.sleepers.wake_all();
    return true;
  }

 private:
  struct alignas(kCacheLine) Lane {
    int expected = 0;
    int arrived = 0;
    bool needed = false;  // a member of the lane needs meet_and_work_if()'s work; taken by the last leader
    SleeperList sleepers;
    sched::Waiter* leader = nullptr;  // written before the leader counts its lane in, read by the last leader
  };
  struct Slot {
    LazyArray<void*> records;
    LazyArray<std::byte> cells;
    bool worked = false;  // written by the last leader; read until the meeting after the next
  };

  /// Counts the calling member in. False: it slept until the meeting was over, or left its guest behind.
  /// True: it is its lane's leader.
  bool lead(Lane& lane, Guest* guest) {
    if (++lane.arrived < lane.expected) {
      if (guest != nullptr) [[unlikely]] {
        guest->waits = true;
        lane.sleepers.push(*guest);
        return false;
      }
      SleepingFlow sleeper;
      lane.sleepers.push(sleeper);
      sleeper.own.wait();
      return false;
    }
    lane.arrived = 0;  // nobody comes to the next meeting before I have woken my lane
    return true;
  }

  /// Leaders wait for each other; the last one runs `last()` first.
  template <class Last>
  void join_leaders(Lane& lane, Last&& last) {
    const int lanes = layout_.lanes();
    if (lanes == 1) return last();
    sched::Waiter waiter(1);
    lane.leader = &waiter;
    // acq_rel: the last leader sees what all members wrote before they came, and all leader pointers.
    if (lanes_arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 < lanes) return waiter.wait();
    lanes_arrived_.store(0, std::memory_order_relaxed);  // published by the wake-ups
    last();
    for (int i = 0; i < lanes; ++i) {
      Lane& other = lanes_[static_cast<std::size_t>(i)];
      if (&other != &lane) other.leader->complete();
    }
  }

  const LaneLayout layout_;
  std::unique_ptr<Lane[]> lanes_;
  Slot slots_[2];
  alignas(kCacheLine) std::atomic<int> lanes_arrived_{0};
};

}  // namespace tmpi::mpi
