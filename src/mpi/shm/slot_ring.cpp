#include "mpi/shm/slot_ring.hpp"

#include <mutex>
#include <utility>

namespace tmpi::mpi {
namespace {

sched::Waiter* released() noexcept {
  return reinterpret_cast<sched::Waiter*>(1);
}

// For CompleteGroups: the groups' own stamps are looked at only if they differ; that would take each group's cache line
// from its worker.
Stamp mixed(Stamp stamp) noexcept {
  stamp *= 0x9E3779B97F4A7C15;
  return (stamp ^ stamp >> 32) * 0xD6E8FEB86659FD93;
}

}  // namespace

SlotRing::SlotRing(const WorkerGroups& groups) : groups_(groups), slots_(std::make_unique<Slot[]>(kSlots)) {
  for (std::uint64_t i = 0; i < kSlots; ++i) {
    Slot& slot = slots_[i];
    slot.turn.store(i, std::memory_order_relaxed);
    slot.groups = std::make_unique<Group[]>(groups.sizes.size());
    for (std::size_t g = 0; g < groups.sizes.size(); ++g) slot.groups[g].arrivals.expected = groups.sizes[g];
  }
}

void SlotRing::wait_for_turn(Slot& slot, std::uint64_t sequence) {
  slot.lock.lock();
  if (slot.turn.load(std::memory_order_relaxed) == sequence) return slot.lock.unlock();
  slot.early.wait(nullptr, [&] { slot.lock.unlock(); });
}

void SlotRing::retire(Slot& slot) noexcept {
  slot.record = nullptr;
  slot.root = nullptr;
  slot.stamp.store(0, std::memory_order_relaxed);
  slot.claimed_by.store(nullptr, std::memory_order_relaxed);
  WaitList early;
  {
    std::scoped_lock guard(slot.lock);
    if (!slot.early.empty()) early = std::exchange(slot.early, {});
    slot.turn.store(slot.turn.load(std::memory_order_relaxed) + kSlots,
                    std::memory_order_release);  // pairs with enter()
  }
  early.resume_all();
}

std::byte* SlotRing::make_room(Slot& slot, MPI_Count bytes) {
  if (slot.capacity < static_cast<std::size_t>(bytes)) {
    std::size_t capacity = 64;
    while (capacity < static_cast<std::size_t>(bytes)) capacity *= 2;
    slot.packed = std::make_unique<std::byte[]>(capacity);
    slot.capacity = capacity;
  }
  return slot.packed.get();
}

void SlotRing::release(Slot& slot) noexcept {
  // Members of the root's own group do not run at the same time, unless ranks move.
  const int own = sched::tasks_move() ? -1 : groups_.mine();
  for (int i = 0; i < groups_.count(); ++i) {
    std::atomic<sched::Waiter*>& release = slot.groups[static_cast<std::size_t>(i)].release;
    sched::Waiter* first;
    if (i == own) {
      first = release.load(std::memory_order_relaxed);
      release.store(released(), std::memory_order_relaxed);
    } else {
      // acq_rel: members who see the mark see what the root published; the root sees the waiter it wakes.
      first = release.exchange(released(), std::memory_order_acq_rel);
    }
    // Released already: members wait for another root than this one, and will be told when they are counted.
    if (first != nullptr && first != released()) first->complete();
  }
}

bool SlotRing::wait_for_release(Slot& slot, WaitingContinuation* continuation) {
  Group& group = mine(slot);
  sched::Waiter* first = group.release.load(std::memory_order_acquire);
  if (first == released()) return true;
  // Another member of my group waits already and will wake me: it cannot run before I sleep, we share a worker. If
  // ranks move, it cannot take the list before I am in it: until the root has released, it does not run, and what
  // has been released I see under the lock.
  if (first != nullptr) {
    GroupGuard guard(group.lock);
    if (sched::tasks_move() && group.release.load(std::memory_order_acquire) == released()) return true;
    return group.arrivals.waiting.wait(continuation, [&] { guard.unlock(); });
  }
  sched::Waiter waiter(1);
  if (!group.release.compare_exchange_strong(first, &waiter, std::memory_order_acq_rel))
    return first == released() || wait_for_release(slot, continuation);  // just now, or another was first
  waiter.wait();
  WaitList waiting;
  {
    const GroupGuard guard(group.lock);
    waiting = std::exchange(group.arrivals.waiting, {});
  }
  waiting.resume_all();
  return true;
}

// Counts the caller in. True: all members have been counted, and the counters are as before.
bool SlotRing::count(Slot& slot, const Comm& comm, Stamp stamp) noexcept {
  Group& group = mine(slot);
  {
    const GroupGuard guard(group.lock);
    group.stamp.meet(group.arrivals, comm, stamp);
    if (!group.arrivals.count()) return false;
    // All my group has passed; published by retire().
    group.release.store(nullptr, std::memory_order_relaxed);
  }
  const int groups = groups_.count();
  if (groups == 1) return true;
  const CompleteGroups::Counted counted = slot.complete.count(groups, mixed(stamp));
  if (counted == CompleteGroups::Counted::kNotLast) return false;
  if (counted == CompleteGroups::Counted::kNotEqual) [[unlikely]] {
    for (int i = 0; i < groups; ++i) slot.groups[static_cast<std::size_t>(i)].stamp.compare(comm, stamp);
  }
  return true;
}

void SlotRing::leave(Slot& slot, const Comm& comm, Stamp stamp) noexcept {
  if (!count(slot, comm, stamp)) return;
  sched::Waiter* root = slot.root;
  retire(slot);
  if (root != nullptr) root->complete();
}

void SlotRing::leave_root(Slot& slot, const Comm& comm, Stamp stamp, bool wait_for_members) {
  if (!wait_for_members) return leave(slot, comm, stamp);
  sched::Waiter waiter(1);
  slot.root = &waiter;
  leave(slot, comm, stamp);
  waiter.wait();
}

void SlotRing::arrive(Slot& slot, const Comm& comm, Stamp stamp) noexcept {
  if (count(slot, comm, stamp)) slot.root->complete();
}

void SlotRing::arrive_root(Slot& slot, const Comm& comm, Stamp stamp) {
  sched::Waiter waiter(1);
  slot.root = &waiter;
  if (!count(slot, comm, stamp)) waiter.wait();
}

}  // namespace tmpi::mpi
