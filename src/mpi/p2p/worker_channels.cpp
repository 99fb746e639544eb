#include "mpi/p2p/worker_channels.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace tmpi::mpi {
namespace {

// Never a number that is expected next, nor one that was not long ago.
constexpr std::uint32_t kFarAway = std::uint32_t{1} << 31;

}  // namespace

Channel::Channel() noexcept {
  use(few_.data(), false);
}

// The ring from now on. Empty, and either under the lock or not known to the reader.
void Channel::use(Slot* slots, bool large) noexcept {
  my_ring_ = slots;
  my_mask_ = (large ? kManySlots : kFewSlots) - 1;
  for (std::uint32_t i = 0; i <= my_mask_; ++i)
    slots[i].turn.store(sent_ + kFarAway, std::memory_order_relaxed);
  // seq_cst: has_message().
  ring_.store(reinterpret_cast<std::uintptr_t>(slots) | static_cast<std::uintptr_t>(large),
              std::memory_order_seq_cst);
}

WorkerChannels::WorkerChannels(int workers, int polls_until_dormant, bool quick)
    : workers_(workers),
      polls_until_dormant_(polls_until_dormant),
      quick_(quick),
      senders_(std::make_unique<Sender[]>(static_cast<std::size_t>(workers))),
      readers_(std::make_unique<Reader[]>(static_cast<std::size_t>(workers))) {
  constexpr std::size_t kRing = Channel::kManySlots * sizeof(Slot);
  const auto rings = static_cast<int>(kLargeRingBytes / kRing);
  const auto payload_rings = static_cast<int>(kPayloadRingBytes / sizeof(PayloadRing));
  for (int i = 0; i < workers; ++i) {
    senders_[static_cast<std::size_t>(i)].large_left = std::max(1, rings / workers);
    senders_[static_cast<std::size_t>(i)].payloads_left = payload_rings / workers;
    readers_[static_cast<std::size_t>(i)].polls_left = polls_until_dormant;
  }
}

WorkerChannels::~WorkerChannels() {
  for (int from = 0; from < workers_; ++from) {
    Sender& sender = senders_[static_cast<std::size_t>(from)];
    for (int to = 0; sender.channels != nullptr && to < workers_; ++to) {
      Channel* const channel = sender.channels[static_cast<std::size_t>(to)];
      if (channel == nullptr) continue;
      if (channel->large()) delete[] channel->my_ring_;
      delete channel;
    }
  }
}

Channel* WorkerChannels::make(int from, int to) noexcept {
  Sender& sender = senders_[static_cast<std::size_t>(from)];
  if (sender.channels == nullptr) {
    sender.channels.reset(new (std::nothrow) Channel* [static_cast<std::size_t>(workers_)] {});
    if (sender.channels == nullptr) return nullptr;
  }
  // The reader gets to know it when it is announced.
  return sender.channels[static_cast<std::size_t>(to)] = new (std::nothrow) Channel;
}

// ---- Announcing, and becoming dormant ----

void WorkerChannels::announce(Channel& channel, int to) noexcept {
  // acquire: the reader has let go of `next_`. Lost to the reader, who has seen the message after all.
  Channel::State expected = Channel::kDormant;
  if (!channel.state_.compare_exchange_strong(expected, Channel::kActive, std::memory_order_seq_cst)) return;
  std::atomic<Channel*>& announced = readers_[static_cast<std::size_t>(to)].announced;
  channel.next_ = announced.load(std::memory_order_relaxed);
  // seq_cst pairs with drain(), as the slot's turn does: before the sender looks whether the reader sleeps.
  while (!announced.compare_exchange_weak(channel.next_, &channel, std::memory_order_seq_cst)) {
  }
}

void WorkerChannels::take_announced(Reader& reader) noexcept {
  // acquire pairs with announce(): a new channel is there.
  Channel* channel = reader.announced.exchange(nullptr, std::memory_order_acquire);
  while (channel != nullptr) {
    Channel* const after = channel->next_;
    poll(reader, *channel);
    channel = after;
  }
}

// From now on.
void WorkerChannels::poll(Reader& reader, Channel& channel) noexcept {
  channel.seen_delivered_ = channel.delivered_.load(std::memory_order_relaxed);
  channel.next_ = reader.polled;
  reader.polled = &channel;
  ++reader.count;
}

// Makes those channels dormant that have delivered nothing since the last time, but for one: all of them dormant, one
// barrier on their senders, and then one more look at each.
void WorkerChannels::make_dormant(int worker) noexcept {
  Reader& reader = readers_[static_cast<std::size_t>(worker)];
  reader.polls_left = polls_until_dormant_;
  Channel* quiet = nullptr;
  for (Channel** link = &reader.polled; *link != nullptr && reader.count > 1;) {
    Channel& channel = **link;
    const std::uint32_t delivered = channel.delivered_.load(std::memory_order_relaxed);
    if (channel.seen_delivered_ == delivered) {
      *link = channel.next_;  // not to be touched once the sender may announce the channel
      --reader.count;
      channel.next_quiet_ = std::exchange(quiet, &channel);
      // seq_cst pairs with publish(): either the sender sees it, or we see its message below.
      channel.state_.store(Channel::kDormant, std::memory_order_seq_cst);
    } else {
      channel.seen_delivered_ = delivered;
      link = &channel.next_;
    }
  }
  if (quiet == nullptr) return;
  const bool sure = !quick_ || process_barrier();
  for (Channel* channel = quiet; channel != nullptr;) {
    Channel* const after = channel->next_quiet_;
    if (!stays_dormant(worker, *channel, sure)) poll(reader, *channel);
    channel = after;
  }
}

// True if the reader has no longer to poll the channel: it is dormant, or its sender has announced it
// already. Not `sure`: there may be a message that is not seen here.
bool WorkerChannels::stays_dormant(int worker, Channel& channel, bool sure) noexcept {
  // Under the lock: a sender that finds it dormant takes its ring away.
  const OwnedLock::Hold hold = channel.delivering_.lock(worker);
  Channel::State expected = Channel::kDormant;
  const bool polled =
      (!sure || channel.has_message()) &&
      channel.state_.compare_exchange_strong(expected, Channel::kActive, std::memory_order_seq_cst);
  channel.delivering_.unlock(hold);
  return !polled;
}

// ---- Sending ----

// What has been delivered by now?
Slot* WorkerChannels::look_for_slot(int from, Channel& channel) noexcept {
  channel.known_delivered_ = channel.delivered_.load(std::memory_order_acquire);
  if (channel.sent_ == channel.known_delivered_ && !channel.large() &&
      ++channel.looks_ == Channel::kLooksUntilGrown) {
    channel.looks_ = 0;
    grow(from, channel);
  }
  if (channel.sent_ - channel.known_delivered_ > channel.my_mask_) return nullptr;
  return &channel.my_ring_[channel.sent_ & channel.my_mask_];
}

// The first time the ring is made. One that is full: what has been delivered by now? Asked once in a while,
// since it costs as much as leaving the message in a cell.
std::byte* WorkerChannels::look_for_room(int from, Channel& channel, MPI_Count bytes) noexcept {
  if (channel.payloads_ == nullptr) {
    Sender& sender = senders_[static_cast<std::size_t>(from)];
    if (!channel.large() || sender.payloads_left == 0) return nullptr;
    channel.payloads_.reset(new (std::nothrow) PayloadRing);
    if (channel.payloads_ == nullptr) return nullptr;
    --sender.payloads_left;
  } else {
    if (channel.sent_ - channel.looked_for_room_ < Channel::kUntilNextLook) return nullptr;
    channel.looked_for_room_ = channel.sent_;
    channel.known_delivered_ = channel.delivered_.load(std::memory_order_acquire);
    channel.payloads_->delivered(channel.known_delivered_);
  }
  return channel.payloads_->take(channel.sent_ + 1, static_cast<std::uint32_t>(bytes));
}

// Under the channel's lock; other channels of the reader have theirs.
void WorkerChannels::note_stuck(Reader& reader, Channel& channel, bool stuck) noexcept {
  channel.stuck_ = stuck;
  reader.stuck.fetch_add(stuck ? 1 : -1, std::memory_order_relaxed);
}

int WorkerChannels::stuck() const noexcept {
  return static_cast<int>(std::count_if(readers_.get(), readers_.get() + workers_, [](const Reader& reader) {
    return reader.stuck.load(std::memory_order_relaxed) > 0;
  }));
}

// ---- Large rings ----

// Only the sender writes here, and all that it has written is delivered: nobody but the reader, who polls,
// looks at the ring. The small one is part of the channel and stays.
void WorkerChannels::grow(int from, Channel& channel) noexcept {
  LargeRing ring = take_large_ring(from);
  if (ring.slots == nullptr) return;
  const OwnedLock::Hold hold = channel.delivering_.lock(from);
  channel.use(ring.slots, true);
  channel.delivering_.unlock(hold);
  channel.payloads_ = std::move(ring.payloads);
  channel.looked_for_room_ = channel.sent_ - Channel::kUntilNextLook;
  Sender& sender = senders_[static_cast<std::size_t>(from)];
  channel.next_large_ = sender.large;
  sender.large = &channel;
}

// A new one, else that of a channel that is dormant, which its reader does not look at: only we can wake it.
WorkerChannels::LargeRing WorkerChannels::take_large_ring(int from) noexcept {
  Sender& sender = senders_[static_cast<std::size_t>(from)];
  if (sender.large_left > 0) {
    Slot* const ring = new (std::nothrow) Slot[Channel::kManySlots];
    if (ring != nullptr) --sender.large_left;
    return {ring, nullptr};
  }
  for (Channel** link = &sender.large; *link != nullptr; link = &(*link)->next_large_) {
    Channel& channel = **link;
    if (channel.state_.load(std::memory_order_relaxed) != Channel::kDormant) continue;
    // The reader may just be making it dormant, and find what we have left there before we could see that.
    const OwnedLock::Hold hold = channel.delivering_.lock(from);
    const bool dormant = channel.state_.load(std::memory_order_relaxed) == Channel::kDormant &&
                         channel.delivered_.load(std::memory_order_relaxed) == channel.sent_;
    Slot* const ring = channel.my_ring_;
    if (dormant) channel.use(channel.few_.data(), false);
    channel.delivering_.unlock(hold);
    if (!dormant) continue;
    *link = channel.next_large_;
    if (channel.payloads_ != nullptr) channel.payloads_->clear();  // a dormant channel holds nothing
    return {ring, std::move(channel.payloads_)};
  }
  return {};
}

}  // namespace tmpi::mpi
