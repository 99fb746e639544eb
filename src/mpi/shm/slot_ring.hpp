// The rooted slot ring: where the members of a node process do a collective with a root. Nobody waits longer
// than the operation demands: a root that has left its small data in a slot goes on (bcast, scatter), a
// member that has left its small contribution goes on (gather, reduce). A ring of slots, addressed by
// comm.rooted_sequence, lets a member run ahead by kSlots collectives; then it sleeps until the slot has been
// used up.
//
// From the root to the members: the root publishes and sets the release flag of every worker group; members
// copy, and leave; the last to leave retires the slot. From the members to the root: members deposit and
// count themselves in; the last wakes the root, which reads and retires the slot.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "base/platform.hpp"
#include "base/spinlock.hpp"
#include "mpi/shm/arrivals.hpp"
#include "mpi/shm/cells.hpp"
#include "mpi/shm/stamp.hpp"
#include "mpi/shm/worker_groups.hpp"

namespace tmpi::mpi {

class SlotRing {
 public:
  explicit SlotRing(const WorkerGroups& groups);
  static constexpr int kSlots = 8;

  /// What a member leaves for the root. Half a cache line, so that a few bytes cost the root no other.
  struct Deposit {
    static constexpr MPI_Count kInside = 16;
    const void* record = nullptr;  ///< what it shows the root while it sleeps; null: the data is packed
    MPI_Count bytes = 0;           ///< packed data: up to kInside of them here, more in the member's cell
    alignas(std::max_align_t) std::byte data[kInside] = {};  ///< or, with `record`, the waiter to be woken

    void set_waiter(sched::Waiter* waiter) noexcept { std::memcpy(data, &waiter, sizeof waiter); }
    sched::Waiter* waiter() const noexcept {
      sched::Waiter* waiter;
      std::memcpy(&waiter, data, sizeof waiter);
      return waiter;
    }
  };

  struct alignas(kCacheLine) Group {
    GroupArrivals arrivals;  // members that have arrived (or left); `waiting`: for the release, but the first
    std::atomic<sched::Waiter*> release{nullptr};  // released(), or null; else not, and whom to wake
    GroupStamp stamp;                              // of those that have arrived (or left)
    SpinLock lock;                                 // GroupGuard's
  };

  struct alignas(kCacheLine) Slot {
    // What changes with every collective, in one cache line:
    std::atomic<std::uint64_t> turn{0};  // the sequence number that the slot serves now
    CompleteGroups complete;
    SpinLock lock;  // guards `early`
    // Of the slot's root, 0: none has come; and who that is, or null: not written yet. Relaxed: what the root
    // publishes, it releases.
    std::atomic<Stamp> stamp{0};
    std::atomic<const Rank*> claimed_by{nullptr};
    sched::Waiter* root = nullptr;  // a root that sleeps until all are counted
    const void* record = nullptr;  // what the root shows the members while it sleeps, or null and the data it
    MPI_Count packed_bytes = 0;    // left in `packed`, for each member (scatter) or for all (bcast)
    // What hardly changes:
    alignas(kCacheLine) std::unique_ptr<std::byte[]> packed;
    std::size_t capacity = 0;
    LazyArray<Deposit> deposits;
    LazyArray<std::byte> cells;
    std::unique_ptr<Group[]> groups;
    WaitList early;  // members that ran ahead
  };
  static_assert(sizeof(Slot) == 2 * kCacheLine);

  const WorkerGroups& groups() const noexcept { return groups_; }

  /// The slot of collective `sequence`. SUSPENDS if the caller has run ahead of the others by kSlots.
  Slot& enter(std::uint64_t sequence) {
    Slot& slot = slot_of(sequence);
    if (slot.turn.load(std::memory_order_acquire) != sequence) [[unlikely]]  // pairs with retire()
      wait_for_turn(slot, sequence);
    return slot;
  }

  /// The slot of a collective that has entered.
  Slot& slot_of(std::uint64_t sequence) noexcept { return slots_[sequence % kSlots]; }

  // Of a collective that has not entered yet: would these wait?
  /// enter(); the slot if not, else null.
  Slot* free_slot(std::uint64_t sequence) noexcept {
    Slot& slot = slot_of(sequence);
    return slot.turn.load(std::memory_order_acquire) == sequence ? &slot : nullptr;  // pairs with retire()
  }
  /// wait_for_release() with a continuation would not.
  bool admits_continuation(Slot& slot) noexcept {
    return !sched::tasks_move() && mine(slot).release.load(std::memory_order_relaxed) != nullptr;
  }
  /// arrive_root() would not: all others have arrived.
  bool others_arrived(Slot& slot) noexcept {
    return !sched::tasks_move() && mine(slot).arrivals.one_missing() &&
           (groups_.count() == 1 || slot.complete.one_missing(groups_.count()));
  }

  Deposit* deposits(Slot& slot) { return slot.deposits.get(static_cast<std::size_t>(groups_.members)); }
  std::byte* cells(Slot& slot) { return slot.cells.get(cells_size(groups_.members)); }
  std::byte* cell(Slot& slot, int member) { return cells(slot) + member * groups_.cell_bytes; }

  // From the root to the members.
  /// The root: room for `bytes` of packed data.
  std::byte* make_room(Slot& slot, MPI_Count bytes);
  // The caller is a member of `comm` and brings its stamp, which must be that of the others.
  /// The root, before it publishes anything: the slot has no other root. One of two that come at the same time
  /// finds the other's stamp.
  void claim(Slot& slot, const Comm& comm, Stamp stamp) noexcept {
    Stamp before = slot.stamp.load(std::memory_order_relaxed);
    // Members of one group never claim at the same time.
    const bool alone = groups_.count() == 1 && !sched::tasks_move();
    if (before != 0 || (!alone && !slot.stamp.compare_exchange_strong(
                                      before, stamp, std::memory_order_relaxed))) [[unlikely]]
      stamps_differ(comm, stamp, before, slot.claimed_by.load(std::memory_order_relaxed));
    if (alone) slot.stamp.store(stamp, std::memory_order_relaxed);
    slot.claimed_by.store(comm.owner, std::memory_order_relaxed);
  }
  /// The root: what it has published in the slot may be read now.
  void release(Slot& slot) noexcept;
  /// A member: waits until the root has released the slot. True: it has. False: `continuation` (null: the
  /// caller waits) has been left behind; only if admits_continuation(). SUSPENDS without one.
  bool wait_for_release(Slot& slot, WaitingContinuation* continuation = nullptr);
  /// A member, before it reads what the root has published.
  void expect(const Slot& slot, const Comm& comm, Stamp stamp) const noexcept {
    const Stamp root = slot.stamp.load(std::memory_order_relaxed);
    if (root != stamp) [[unlikely]]
      stamps_differ(comm, stamp, root, slot.claimed_by.load(std::memory_order_relaxed));
  }
  /// A member has read what it needs.
  void leave(Slot& slot, const Comm& comm, Stamp stamp) noexcept;
  /// The root leaves at once, or when all members have (its buffer is read by them: SUSPENDS).
  void leave_root(Slot& slot, const Comm& comm, Stamp stamp, bool wait_for_members);

  // From the members to the root.
  /// A member has deposited.
  void arrive(Slot& slot, const Comm& comm, Stamp stamp) noexcept;
  /// The root waits until all members have arrived. SUSPENDS.
  void arrive_root(Slot& slot, const Comm& comm, Stamp stamp);
  /// The root has read everything.
  void retire(Slot& slot) noexcept;

 private:
  Group& mine(Slot& slot) noexcept { return slot.groups[static_cast<std::size_t>(groups_.mine())]; }
  bool count(Slot& slot, const Comm& comm, Stamp stamp) noexcept;
  void wait_for_turn(Slot& slot, std::uint64_t sequence);

  const WorkerGroups groups_;
  std::unique_ptr<Slot[]> slots_;
};

}  // namespace tmpi::mpi
