// Relay: where collectives with a root meet. Nobody waits longer than the operation demands: a root that has
// left its small data in the relay goes on (bcast, scatter), a member that has left its small contribution
// goes on (gather, reduce). A ring of slots, addressed by comm.rooted_sequence, lets a member run ahead by
// kSlots collectives; then it sleeps until the slot has been used up.
//
// From the root to the members: the root publishes and opens the gate of every lane; members copy, and leave;
// the last to leave frees the slot. From the members to the root: members deposit and count themselves in;
// the last wakes the root, which reads and frees the slot.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>

#include "base/spinlock.hpp"
#include "mpi/shm/cells.hpp"
#include "mpi/shm/lane.hpp"

namespace tmpi::mpi {

struct Args;  // coll/args.hpp

class Relay {
 public:
  explicit Relay(const LaneLayout& layout);
  static constexpr int kSlots = 8;

  /// What a member leaves for the root. Half a cache line, so that a few bytes cost the root no other.
  struct Deposit {
    static constexpr MPI_Count kInside = 16;
    const Args* args = nullptr;  ///< its arguments, valid while it sleeps; null: the data is packed
    MPI_Count bytes = 0;         ///< packed data: up to kInside of them here, more in the member's cell
    alignas(std::max_align_t) std::byte data[kInside] = {};  ///< or, with `args`, the waiter to be woken

    void set_waiter(sched::Waiter* waiter) noexcept { std::memcpy(data, &waiter, sizeof waiter); }
    sched::Waiter* waiter() const noexcept {
      sched::Waiter* waiter;
      std::memcpy(&waiter, data, sizeof waiter);
      return waiter;
    }
  };

  struct alignas(kCacheLine) Lane {
    int counted = 0;       // this lane's members that have arrived (or left); its worker only
    SleeperList sleepers;  // members before the gate, but for the first; its worker only
    std::atomic<sched::Waiter*> gate{nullptr};  // null: shut; open_mark(); else: shut, and whom to wake
  };

  struct Slot {
    std::atomic<std::uint64_t> turn{0};  // the sequence number that the slot serves now
    std::atomic<int> lanes_counted{0};
    SpinLock lock;                        // guards `early`
    SleeperList early;                    // members that ran ahead
    sched::Waiter* root = nullptr;        // a root that sleeps until all are counted
    const Args* args = nullptr;           // the root's arguments, or null and
    std::unique_ptr<std::byte[]> packed;  // the data it left, with
    std::size_t capacity = 0;
    MPI_Count packed_bytes = 0;  // bytes for each member (scatter) or for all (bcast)
    LazyArray<Deposit> deposits;
    LazyArray<std::byte> cells;
    std::unique_ptr<Lane[]> lanes;
  };

  const LaneLayout& layout() const noexcept { return layout_; }
  int members() const noexcept { return layout_.members; }

  /// The slot of collective `sequence`. SUSPENDS if the caller has run ahead of the others by kSlots.
  Slot& enter(std::uint64_t sequence) {
    Slot& slot = slots_[sequence % kSlots];
    if (slot.turn.load(std::memory_order_acquire) != sequence) [[unlikely]]  // pairs with release()
      wait_for_turn(slot, sequence);
    return slot;
  }

  /// The slot of a collective that has entered.
  Slot& slot_of(std::uint64_t sequence) noexcept { return slots_[sequence % kSlots]; }

  // Of a collective that has not entered yet: would these wait?
  /// enter(); the slot if not, else null.
  Slot* free_slot(std::uint64_t sequence) noexcept {
    Slot& slot = slots_[sequence % kSlots];
    return slot.turn.load(std::memory_order_acquire) == sequence ? &slot : nullptr;  // pairs with release()
  }
  /// pass_gate() with a guest would not.
  bool gate_admits_guest(Slot& slot) noexcept {
    return lane(slot).gate.load(std::memory_order_relaxed) != nullptr;
  }
  /// arrive_root() would not: all others have arrived.
  bool others_arrived(Slot& slot) noexcept;

  Deposit* deposits(Slot& slot) { return slot.deposits.get(static_cast<std::size_t>(layout_.members)); }
  std::byte* cells(Slot& slot) { return slot.cells.get(cells_size(layout_.members)); }
  std::byte* cell(Slot& slot, int member) { return cells(slot) + member * layout_.cell_bytes; }

  // From the root to the members.
  /// The root: room for `bytes` of packed data.
  std::byte* make_room(Slot& slot, MPI_Count bytes);
  /// The root: what it has published in the slot may be read now.
  void open(Slot& slot) noexcept;
  /// A member: waits until the root has opened. True: it has. False: `guest` (null: the caller waits) has
  /// been left behind; only if gate_admits_guest(). SUSPENDS without a guest.
  bool pass_gate(Slot& slot, Guest* guest = nullptr);
  /// A member has read what it needs.
  void leave(Slot& slot) noexcept;
  /// The root leaves at once, or when all members have (its buffer is read by them: SUSPENDS).
  void leave_root(Slot& slot, bool wait_for_members);

  // From the members to the root.
  /// A member has deposited.
  void arrive(Slot& slot) noexcept;
  /// The root waits until all members have arrived. SUSPENDS.
  void arrive_root(Slot& slot);
  /// The root has read everything.
  void release(Slot& slot) noexcept;

 private:
  Lane& lane(Slot& slot) noexcept { return slot.lanes[static_cast<std::size_t>(layout_.mine())]; }
  bool count(Slot& slot) noexcept;
  void wait_for_turn(Slot& slot, std::uint64_t sequence);

  const LaneLayout layout_;
  std::unique_ptr<Slot[]> slots_;
};

}  // namespace tmpi::mpi
