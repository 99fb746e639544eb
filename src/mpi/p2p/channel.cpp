#include "mpi/p2p/channel.hpp"

#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "mpi/p2p/cell.hpp"
#include "mpi/p2p/worker_channels.hpp"
#include "sched/move.hpp"
#include "sched/scheduler.hpp"
#include "sched/waiter.hpp"

namespace tmpi::mpi {
namespace {

static_assert(row_of(Way::kRing).most <= PayloadRing::kMost);
static_assert(row_of(Way::kPacked).most_scattered <= 0xffff);  // Slot::bytes
constexpr std::uint32_t kLookInterval = 64;  // messages between two looks at the receiver's memory
// Messages that may lie in a channel when a packed one is left there, which may be large.
constexpr std::uint32_t kBeforePacked = 15;

// Written before any rank runs; none with one worker. Not behind a pointer: a load less in every message.
std::optional<WorkerChannels> the_channels;
sched::Scheduler* the_scheduler = nullptr;

// Where ranks move: for each worker where it has left something for a rank last, by the rank's local index; -1: nowhere.
// Used inside the worker.
struct alignas(kCacheLine) Places {
  std::vector<std::int16_t> of_rank;
};
std::unique_ptr<Places[]> the_places;

enum class Here : std::uint8_t {
  kNo,     // the caller is not inside the receiver's worker
  kYes,    // it is
  kMaybe,  // ranks move: it is inside the worker for which the message was left
};

// What a channel delivers. False if there is no memory for a cell: it stays there.
template <Here kHere>
bool match(Slot& slot) noexcept {
  const bool inside = slot.bytes <= kSlotBytes;
  const void* const packed = inside ? slot.packed : slot.outside.payload;
  Message* const sent = inside ? nullptr : slot.outside.cell;
  // While it is matched.
  if (inside && slot.bytes > kSlotLineBytes) __builtin_prefetch(&slot.packed[kSlotLineBytes]);
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
  const bool here = kHere == Here::kYes || (kHere == Here::kMaybe && sched::is_neighbour(*slot.target->task));
  if (here) {
    arrival.receive->complete_here();
  } else {
    arrival.receive->complete();
  }
  return true;
}

// The drain hook.
bool drain_channels(int worker) noexcept {
  return the_channels->drain<match<Here::kYes>>(worker);
}
// The same where ranks move.
bool drain_for_moving(int worker) noexcept {
  return the_channels->drain<match<Here::kMaybe>>(worker);
}

bool deliver_all_of(int worker) noexcept {
  return the_channels->flush_all<match<Here::kNo>>(worker);
}

// seq_cst pairs with pass_on_moving(): the worker that the task leaves drains its channels before its next turn, and sees
// what has been left for the task there, or the sender sees this.
void note_move(sched::Task& task, int worker) noexcept {
  static_cast<Rank*>(task.owner)->place.store(worker, std::memory_order_seq_cst);
}

}  // namespace

void connect_workers(sched::Scheduler& scheduler) {
  the_scheduler = &scheduler;
  const int workers = scheduler.workers();
  the_channels.reset();
  const bool move = sched::tasks_move();
  const bool quick =
      scheduler.set_drain_hook(workers > 1 ? (move ? drain_for_moving : drain_channels) : nullptr);
  the_places.reset(move ? new Places[static_cast<std::size_t>(workers)] : nullptr);
  if (move) scheduler.set_move_hooks({.deliver = deliver_all_of, .moved = note_move});
  if (workers > 1) the_channels.emplace(workers, WorkerChannels::kPollsUntilDormant, quick);
}

bool post(int from, int to, Rank& target, const MatchKey& key, const Outgoing& data, Way way) noexcept {
  if (!the_channels) return false;
  Channel* const channel = the_channels->to(from, to);
  if (channel == nullptr) return false;
  Slot* const slot = the_channels->free_slot(from, *channel);
  if (slot == nullptr) return false;
  if ((way == Way::kPacked || channel->sent() % kLookInterval == 0) &&
      target.matcher.buffered_bytes() > kMostBuffered)
    return false;
  if (way == Way::kPacked && !the_channels->at_most(*channel, kBeforePacked)) return false;
  if (way == Way::kSlot) {
    pack(slot->packed, data);
  } else if (std::byte* const room =
                 way == Way::kRing ? the_channels->room(from, *channel, data.bytes) : nullptr) {
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
  return !the_channels || the_channels->flush<match<Here::kNo>>(from, to);
}

Followed follow(int from, int to, const Rank& target) noexcept {
  if (from < 0) return Followed::kYes;  // it has left nothing yet
  std::vector<std::int16_t>& places = the_places[static_cast<std::size_t>(from)].of_rank;
  const auto index = static_cast<std::size_t>(target.local_index);
  if (index >= places.size()) {
    try {
      places.resize(static_cast<std::size_t>(job()->local_count()), -1);
    } catch (const std::bad_alloc&) {  // all that it has left, instead
      return deliver_all_of(from) ? Followed::kUnnoted : Followed::kNo;
    }
  }
  const int before = places[index];
  if (before == to) return Followed::kYes;
  if (before >= 0 && before != from && !flush(from, before)) return Followed::kNo;
  places[index] = static_cast<std::int16_t>(to);
  return Followed::kYes;
}

bool computes(int to) noexcept {
  return the_scheduler->is_open(to);
}

bool take_in(int worker) noexcept {
  if (!the_channels || worker < 0) return false;
  return the_places == nullptr ? drain_channels(worker) : drain_for_moving(worker);
}

bool take_in_for(const sched::Waiter& waiter, int worker) noexcept {
  if (!the_channels || worker < 0) return false;
  const auto over = [&]() noexcept { return waiter.over(); };
  if (the_places == nullptr) {
    the_channels->drain_until<match<Here::kYes>>(worker, over);
  } else {
    the_channels->drain_until<match<Here::kMaybe>>(worker, over);
  }
  return waiter.over();
}

int workers_without_memory() noexcept {
  return !the_channels ? 0 : the_channels->stuck();
}

}  // namespace tmpi::mpi
