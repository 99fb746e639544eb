#include "mpi/p2p/channel.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "base/spinlock.hpp"
#include "mpi/p2p/cell.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::mpi {
namespace {

constexpr std::uint32_t kSlots = 256;
constexpr MPI_Count kInlineBytes = 96;
constexpr std::uint32_t kLookInterval = 64;  // messages between two looks at the receiver's memory

// Two cache lines, of which a message of up to 32 bytes touches one. Message number n (from 1) lies in slot
// n - 1 modulo kSlots and is there once turn == n.
struct alignas(128) Slot {
  // seq_cst exchange by the sender, pairs with the receiver's loads: orders the rest of the slot, and, with
  // the announcement of sleep, makes sure that nobody sleeps on a message (Inbox::announce_sleep).
  std::atomic<std::uint32_t> turn{0};
  std::uint16_t bytes = 0;
  std::uint16_t serial = 0;  // Message::serial
  Rank* target = nullptr;
  MatchKey key;
  union {
    Message* cell;  // bytes > kInlineBytes
    std::byte packed[kInlineBytes];
  };
};
static_assert(sizeof(Slot) == 128 && kChannelLimit <= 0xffff);

struct Channel {
  // The sending worker's.
  alignas(64) std::uint32_t sent = 0;
  std::uint32_t known_delivered = 0;  // a value `delivered` has had
  // Whoever delivers, under the lock: the receiving worker, or the sender in flush().
  alignas(64) SpinLock delivering;
  std::atomic<std::uint32_t> delivered{
      0};  // release pairs with the sender's acquire: the slot may be written again
  std::array<Slot, kSlots> slots;
};

// channels[to * workers + from]; so a receiver looks along one row.
struct Table {
  int workers;
  std::vector<std::atomic<Channel*>> channels;

  explicit Table(int count)
      : workers(count), channels(static_cast<std::size_t>(count) * static_cast<std::size_t>(count)) {}
  ~Table() {
    for (auto& channel : channels) delete channel.load(std::memory_order_relaxed);
  }
  std::atomic<Channel*>& at(int from, int to) noexcept {
    return channels[static_cast<std::size_t>(to) * static_cast<std::size_t>(workers) +
                    static_cast<std::size_t>(from)];
  }
};

// Written before any rank runs.
std::unique_ptr<Table> the_table;
sched::Scheduler* the_scheduler = nullptr;

// False if there is no memory for a cell; the message stays where it is.
bool deliver(Slot& slot) noexcept {
  const bool in_cell = slot.bytes > kInlineBytes;
  Matcher& matcher = slot.target->matcher;
  matcher.lock();
  if (PostedReceive* posted = matcher.take_posted(slot.key)) {
    matcher.unlock();
    Request& receive = *posted->request;
    receive_packed(receive, slot.key, in_cell ? slot.cell->payload : slot.packed, slot.bytes);
    if (in_cell) give_back_cell(slot.cell);
    receive.complete();
    return true;
  }
  Message* cell = in_cell ? slot.cell : take_cell(slot.bytes);
  if (cell != nullptr) {
    if (!in_cell) std::memcpy(cell_payload(cell), slot.packed, slot.bytes);
    cell->key = slot.key;
    cell->bytes = slot.bytes;
    cell->serial = slot.serial;
    matcher.add_unexpected(*cell);
  }
  matcher.unlock();
  return cell != nullptr;
}

inline Slot& slot_of(Channel& channel, std::uint32_t number) noexcept {
  return channel.slots[number % kSlots];
}

inline bool has_mail(Channel& channel) noexcept {
  const std::uint32_t next = channel.delivered.load(std::memory_order_relaxed);
  return slot_of(channel, next).turn.load(std::memory_order_seq_cst) == next + 1;
}

void deliver_all(Channel& channel) noexcept {
  channel.delivering.lock();
  while (has_mail(channel)) {
    const std::uint32_t next = channel.delivered.load(std::memory_order_relaxed);
    if (!deliver(slot_of(channel, next))) break;
    channel.delivered.store(next + 1, std::memory_order_release);
  }
  channel.delivering.unlock();
}

// The mail hook.
bool receive_mail(int worker) noexcept {
  bool found = false;
  for (int from = 0; from < the_table->workers; ++from) {
    Channel* channel = the_table->at(from, worker).load(std::memory_order_acquire);
    if (channel == nullptr || !has_mail(*channel)) continue;
    deliver_all(*channel);
    found = true;
  }
  return found;
}

Channel* channel_to(int from, int to) noexcept {
  if (the_table == nullptr) return nullptr;
  std::atomic<Channel*>& place = the_table->at(from, to);
  Channel* channel = place.load(std::memory_order_relaxed);
  if (channel == nullptr) [[unlikely]] {
    channel = new (std::nothrow) Channel;
    place.store(channel, std::memory_order_release);
  }
  return channel;
}

bool has_room(Channel& channel) noexcept {
  if (channel.sent - channel.known_delivered < kSlots) return true;
  channel.known_delivered = channel.delivered.load(std::memory_order_acquire);
  return channel.sent - channel.known_delivered < kSlots;
}

}  // namespace

void connect_workers(sched::Scheduler& scheduler) {
  the_scheduler = &scheduler;
  the_table = scheduler.workers() > 1 ? std::make_unique<Table>(scheduler.workers()) : nullptr;
  scheduler.set_drain_hook(the_table != nullptr ? receive_mail : nullptr);
}

bool post(int from, int to, Rank& target, const MatchKey& key, const Outgoing& data) noexcept {
  Channel* channel = channel_to(from, to);
  if (channel == nullptr || !has_room(*channel)) return false;
  const std::uint32_t number = channel->sent;
  if (number % kLookInterval == 0 && target.matcher.buffered_bytes() > kMostBuffered) return false;
  Slot& slot = slot_of(*channel, number);
  if (data.bytes <= kInlineBytes) {
    pack(slot.packed, data);
  } else {
    Message* cell = take_cell(data.bytes);
    if (cell == nullptr) return false;
    pack(cell_payload(cell), data);
    slot.cell = cell;
  }
  slot.bytes = static_cast<std::uint16_t>(data.bytes);
  slot.serial = data.serial;
  slot.target = &target;
  slot.key = key;
  channel->sent = number + 1;
  slot.turn.exchange(number + 1, std::memory_order_seq_cst);
  the_scheduler->wake_if_parked(to);
  return true;
}

void flush(int from, int to) noexcept {
  if (the_table == nullptr) return;
  Channel* channel = the_table->at(from, to).load(std::memory_order_relaxed);
  if (channel == nullptr) return;
  // A full ring, or one whose messages find no memory, is tried until it is empty: the receiver's worker
  // helps.
  while (channel->known_delivered != channel->sent) {
    channel->known_delivered = channel->delivered.load(std::memory_order_acquire);
    if (channel->known_delivered != channel->sent) deliver_all(*channel);
  }
}

}  // namespace tmpi::mpi
