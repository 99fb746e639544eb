#include "mpi/shm/relay.hpp"

#include <mutex>

namespace tmpi::mpi {
namespace {

sched::Waiter* open_mark() noexcept {
  return reinterpret_cast<sched::Waiter*>(1);
}

}  // namespace

Relay::Relay(const LaneLayout& layout) : layout_(layout), slots_(std::make_unique<Slot[]>(kSlots)) {
  for (int i = 0; i < kSlots; ++i) {
    slots_[static_cast<std::size_t>(i)].turn.store(static_cast<std::uint64_t>(i), std::memory_order_relaxed);
    slots_[static_cast<std::size_t>(i)].lanes = std::make_unique<Lane[]>(layout.expected.size());
  }
}

void Relay::wait_for_turn(Slot& slot, std::uint64_t sequence) {
  slot.lock.lock();
  if (slot.turn.load(std::memory_order_relaxed) == sequence) return slot.lock.unlock();
  SleepingFlow sleeper;
  slot.early.push(sleeper);
  slot.lock.unlock();
  sleeper.own.wait();
}

void Relay::release(Slot& slot) noexcept {
  slot.args = nullptr;
  slot.root = nullptr;
  SleeperList early;
  {
    std::scoped_lock guard(slot.lock);
    early = slot.early;
    slot.early = {};
    slot.turn.store(slot.turn.load(std::memory_order_relaxed) + kSlots,
                    std::memory_order_release);  // pairs with enter()
  }
  early.wake_all();
}

std::byte* Relay::make_room(Slot& slot, MPI_Count bytes) {
  if (slot.capacity < static_cast<std::size_t>(bytes)) {
    std::size_t capacity = 64;
    while (capacity < static_cast<std::size_t>(bytes)) capacity *= 2;
    slot.packed = std::make_unique<std::byte[]>(capacity);
    slot.capacity = capacity;
  }
  return slot.packed.get();
}

void Relay::open(Slot& slot) noexcept {
  for (int i = 0; i < layout_.lanes(); ++i) {
    // acq_rel: members who see the mark see what the root published; the root sees the waiter it wakes.
    sched::Waiter* first =
        slot.lanes[static_cast<std::size_t>(i)].gate.exchange(open_mark(), std::memory_order_acq_rel);
    if (first != nullptr) first->complete();
  }
}

bool Relay::pass_gate(Slot& slot, Guest* guest) {
  Lane& mine = lane(slot);
  sched::Waiter* gate = mine.gate.load(std::memory_order_acquire);
  if (gate == open_mark()) return true;
  if (gate != nullptr) {
    // Another member of my lane waits already and will wake me: it cannot run before I sleep, we share a
    // worker.
    if (guest != nullptr) {
      guest->waits = true;
      mine.sleepers.push(*guest);
      return false;
    }
    SleepingFlow sleeper;
    mine.sleepers.push(sleeper);
    sleeper.own.wait();
    return true;
  }
  sched::Waiter waiter(1);
  if (!mine.gate.compare_exchange_strong(gate, &waiter, std::memory_order_acq_rel))
    return true;  // opened just now
  waiter.wait();
  mine.sleepers.wake_all();
  return true;
}

// Counts the caller in on its lane, and a full lane in on the slot. True: all members have been counted, and
// the counters are as before.
bool Relay::count(Slot& slot) noexcept {
  const int index = layout_.mine();
  Lane& mine = slot.lanes[static_cast<std::size_t>(index)];
  if (++mine.counted < layout_.expected[static_cast<std::size_t>(index)]) return false;
  mine.counted = 0;
  mine.gate.store(nullptr, std::memory_order_relaxed);  // all my lane has passed; published by release()
  if (layout_.lanes() == 1) return true;
  // acq_rel: the last one sees all deposits and all lanes' resets.
  if (slot.lanes_counted.fetch_add(1, std::memory_order_acq_rel) + 1 < layout_.lanes()) return false;
  slot.lanes_counted.store(0, std::memory_order_relaxed);
  return true;
}

void Relay::leave(Slot& slot) noexcept {
  if (!count(slot)) return;
  sched::Waiter* root = slot.root;
  release(slot);
  if (root != nullptr) root->complete();
}

void Relay::leave_root(Slot& slot, bool wait_for_members) {
  if (!wait_for_members) return leave(slot);
  sched::Waiter waiter(1);
  slot.root = &waiter;
  leave(slot);
  waiter.wait();
}

void Relay::arrive(Slot& slot) noexcept {
  if (count(slot)) slot.root->complete();
}

bool Relay::others_arrived(Slot& slot) noexcept {
  const int index = layout_.mine();
  if (slot.lanes[static_cast<std::size_t>(index)].counted + 1 <
      layout_.expected[static_cast<std::size_t>(index)])
    return false;
  return slot.lanes_counted.load(std::memory_order_relaxed) + 1 == layout_.lanes();
}

void Relay::arrive_root(Slot& slot) {
  sched::Waiter waiter(1);
  slot.root = &waiter;
  if (!count(slot)) waiter.wait();
}

}  // namespace tmpi::mpi
