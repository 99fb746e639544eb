#include "mpi/p2p/channel.hpp"

#include <cstring>
#include <optional>

#include "mpi/p2p/cell.hpp"
#include "mpi/p2p/worker_channels.hpp"
#include "sched/scheduler.hpp"
#include "sched/waiter.hpp"

namespace tmpi::mpi {
namespace {

static_assert(kChannelLimit <= 0xffff && kScatteredLimit <= 0xffff);  // Slot::bytes
static_assert(kChannelLimit <= PayloadRing::kMost);
constexpr std::uint32_t kLookInterval = 64;  // messages between two looks at the receiver's memory
// Messages that may lie in a channel when a large one, of up to 64 KiB, is left there.
constexpr std::uint32_t kBeforeLarge = 15;

// Written before any rank runs; none with one worker. Not behind a pointer: a load less in every message.
std::optional<WorkerChannels> the_channels;
sched::Scheduler* the_scheduler = nullptr;

// What a channel delivers. False if there is no memory for a cell: it stays there. kHere: the caller is inside
// the receiver's worker.
template <bool kHere>
bool match(Slot& slot) noexcept {
  const bool inside = slot.bytes <= kSlotBytes;
  const void* const packed = inside ? slot.packed : slot.outside.payload;
  Message* const sent = inside ? nullptr : slot.outside.cell;
  const MatchResult arrival = slot.target->matcher.arrive(slot.key, [&]() noexcept {
    Message* const cell = sent != nullptr ? sent : take_cell(slot.bytes);
    if (cell == nullptr) return cell;
    if (sent == nullptr) std::memcpy(cell_payload(cell), packed, slot.bytes);
    cell->bytes = slot.bytes;
    cell->serial = slot.serial;
    return cell;
  });
  if (arrival.receive == nullptr) return arrival.left;
  receive_packed(*arrival.receive, slot.key, packed, slot.bytes);
  if (sent != nullptr) give_back_cell(sent);
  if constexpr (kHere) {
    arrival.receive->complete_here();
  } else {
    arrival.receive->complete();
  }
  return true;
}

// The drain hook.
bool drain_channels(int worker) noexcept {
  return the_channels->drain<match<true>>(worker);
}

}  // namespace

void connect_workers(sched::Scheduler& scheduler) {
  the_scheduler = &scheduler;
  const int workers = scheduler.workers();
  the_channels.reset();
  const bool quick = scheduler.set_drain_hook(workers > 1 ? drain_channels : nullptr);
  if (workers > 1) the_channels.emplace(workers, WorkerChannels::kPollsUntilRest, quick);
}

bool post(int from, int to, Rank& target, const MatchKey& key, const Outgoing& data) noexcept {
  if (!the_channels) return false;
  Channel* const channel = the_channels->to(from, to);
  if (channel == nullptr) return false;
  Slot* const slot = the_channels->free_slot(from, *channel);
  if (slot == nullptr) return false;
  const bool large = data.bytes > kChannelLimit;
  if ((large || channel->sent() % kLookInterval == 0) && target.matcher.buffered_bytes() > kMostBuffered)
    return false;
  if (large && !the_channels->at_most(*channel, kBeforeLarge)) return false;
  if (data.bytes <= kSlotBytes) {
    pack(slot->packed, data);
  } else if (std::byte* const room = large ? nullptr : the_channels->room(from, *channel, data.bytes)) {
    pack(room, data);
    slot->outside = {room, nullptr};
  } else {
    Message* const cell = take_cell(data.bytes);
    if (cell == nullptr) return false;
    pack(cell_payload(cell), data);
    slot->outside = {cell->payload, cell};
  }
  slot->bytes = static_cast<std::uint16_t>(data.bytes);
  slot->serial = data.serial;
  slot->target = &target;
  slot->key = key;
  the_channels->publish(from, *channel, *slot, to);
  the_scheduler->wake_if_parked(to);
  return true;
}

bool flush(int from, int to) noexcept {
  return !the_channels || the_channels->flush<match<false>>(from, to);
}

bool take_in(int worker) noexcept {
  return the_channels && worker >= 0 && drain_channels(worker);
}

bool take_in_for(const sched::Waiter& waiter, int worker) noexcept {
  if (!the_channels || worker < 0) return false;
  the_channels->drain_until<match<true>>(worker, [&]() noexcept { return waiter.over(); });
  return waiter.over();
}

int workers_without_memory() noexcept {
  return !the_channels ? 0 : the_channels->stuck();
}

}  // namespace tmpi::mpi
