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
#include <memory>

#include "base/spinlock.hpp"
#include "mpi/coll/args.hpp"
#include "mpi/coll/cells.hpp"
#include "mpi/coll/lane.hpp"

namespace tmpi::mpi {

class Relay {
 public:
  explicit Relay(const LaneLayout& layout);
  static constexpr int kSlots = 8;

  /// What a member leaves for the root.
  struct Deposit {
    const Args* args =
        nullptr;          ///< its arguments, valid while it sleeps; null: the data is packed in its cell
    MPI_Count bytes = 0;  ///< packed data
    sched::Waiter* waiter = nullptr;  ///< to be woken when its data has been read
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
  Slot& enter(std::uint64_t sequence);

  Deposit* deposits(Slot& slot) { return slot.deposits.get(static_cast<std::size_t>(layout_.members)); }
  std::byte* cells(Slot& slot) { return slot.cells.get(cells_size(layout_.members)); }
  std::byte* cell(Slot& slot, int member) { return cells(slot) + member * layout_.cell_bytes; }

  // From the root to the members.
  /// The root: room for `bytes` of packed data.
  std::byte* make_room(Slot& slot, MPI_Count bytes);
  /// The root: what it has published in the slot may be read now.
  void open(Slot& slot) noexcept;
  /// A member: waits until the root has opened. SUSPENDS.
  void pass_gate(Slot& slot);
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

  const LaneLayout layout_;
  std::unique_ptr<Slot[]> slots_;
};

}  // namespace tmpi::mpi
