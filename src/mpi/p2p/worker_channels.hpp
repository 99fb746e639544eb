// WorkerChannels: small messages from the ranks of one worker to those of another, one ring of slots per
// ordered pair of workers, one writer and one reader each. Knows nothing of matching: whoever reads is given
// slot after slot (p2p/channel.cpp). docs/design/matching.md, section Between workers, has the argument for the
// handshakes.
//
// A reader polls only the channels that have talked of late. One that has not is *dormant*; its next message
// puts it into the reader's list of announcements, which is one word, so that a look that finds nothing is a
// load of that word and of the slots of the few that are polled, however many workers there are. The channel
// that was the last to fall silent stays polled: between two workers nothing is ever announced twice.
//
// Memory: nothing for pairs that have never talked; 640 bytes with a ring of kFewSlots for one that has; the
// ring grows once to kManySlots, when it was full or has been in use for some dozen messages, if the sender's
// worker has large rings left. Those of a process take at most kLargeRingBytes (one ring per worker is always
// allowed), the payload rings that they may have at most kPayloadRingBytes; a worker that has used up its share
// takes a large ring from a channel of its own that is dormant. Memory that cannot be had is a ring that does
// not grow, or a channel that does not come to be.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/owned_lock.hpp"
#include "base/platform.hpp"
#include "base/process_barrier.hpp"
#include "mpi/match/message.hpp"
#include "mpi/p2p/payload_ring.hpp"
#include "mpi/p2p/way.hpp"

namespace tmpi::mpi {

struct Rank;

/// Lie in the slot itself.
inline constexpr MPI_Count kSlotBytes = row_of(Way::kSlot).most;
/// So much of them lies on the slot's first line.
inline constexpr MPI_Count kSlotLineBytes = 32;

/// One message. Two cache lines, of which a message of up to 32 bytes touches one.
struct alignas(kCacheLinePair) Slot {
  /// Message number n (from 1) of the channel is here once turn == n. The sender's store in publish() orders
  /// the rest of the slot before it, and pairs with the reader's loads in drain() and make_dormant().
  std::atomic<std::uint32_t> turn{0};
  std::uint16_t bytes = 0;
  std::uint16_t serial = 0;  ///< Message::serial
  Rank* target = nullptr;
  MatchKey key;
  struct Outside {
    const void* payload;
    Message* cell;  ///< whose payload it is; null: it lies in the channel's PayloadRing
  };
  union {
    Outside outside;  ///< bytes > kSlotBytes
    std::byte packed[kSlotBytes];
  };
};
static_assert(sizeof(Slot) == 128);

/// Takes a message off its slot; false if it has to stay there. Any worker's thread; must not post.
using Deliver = bool (*)(Slot& slot) noexcept;

/// From one worker to another.
class Channel {
 public:
  Channel() noexcept;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Messages written so far, modulo 2^32.
  std::uint32_t sent() const noexcept { return sent_; }

  static constexpr std::uint32_t kFewSlots = 4;
  static constexpr std::uint32_t kManySlots = 256;

 private:
  friend class WorkerChannels;
  // A sender learns what has been delivered by fetching the reader's line, once in a ring's length. With the
  // small ring that makes a fifth of what a message costs: so often, then the ring grows.
  static constexpr int kLooksUntilGrown = 8;
  // Messages between two looks whether a full PayloadRing has room.
  static constexpr std::uint32_t kUntilNextLook = 16;
  // Slots ahead of the one that is written whose line a stream has fetched.
  static constexpr std::uint32_t kAhead = 6;

  // kActive: the reader polls it, or will when it has taken the announcement. Either side makes it active, by
  // a compare-exchange; only the reader makes it dormant.
  enum State : std::uint8_t { kDormant, kActive };

  // A ring by its address and size.
  struct Ring {
    explicit Ring(std::uintptr_t word) noexcept : word_(word) {}
    Slot& operator[](std::uint32_t number) const noexcept {
      const std::uint32_t mask = ((word_ & 1) != 0 ? kManySlots : kFewSlots) - 1;
      return reinterpret_cast<Slot*>(word_ & ~std::uintptr_t{1})[number & mask];
    }

   private:
    std::uintptr_t word_;
  };

  // Without the lock `ring_` and `delivered_` may have changed in between, which only the sender does; then
  // the answer may be a wrong yes. All three are seq_cst for the sake of a reader that is about to sleep or
  // has made the channel dormant: what the sender has written before it looked at that is seen here. Where the process
  // has a barrier `turn` is stored by release only: then it is the reader's process_barrier() before that look.
  bool has_message() const noexcept {
    const Ring ring(ring_.load(std::memory_order_seq_cst));
    const std::uint32_t next = delivered_.load(std::memory_order_seq_cst);
    return ring[next].turn.load(std::memory_order_seq_cst) == next + 1;
  }
  bool large() const noexcept { return my_mask_ == kManySlots - 1; }

  void use(Slot* slots, bool large) noexcept;

  // The sender's line. The reader writes `state_` when it makes the channel dormant.
  alignas(kCacheLine) std::uint32_t sent_ = 0;
  std::uint32_t known_delivered_ = 0;  // a value `delivered_` has had
  Slot* my_ring_;
  std::uint32_t my_mask_;
  std::atomic<State> state_{kDormant};
  std::uint8_t looks_ = 0;                 // at `delivered_`, with the small ring
  std::uint32_t seen_looks_ = 0;           // Reader::looks of the sender's worker at its last message
  std::uint32_t looked_for_room_ = 0;      // sent_ when `payloads_` was last full
  Channel* next_large_ = nullptr;          // of the sender's channels with a large ring
  std::unique_ptr<PayloadRing> payloads_;  // null: none has been needed, or the ring is small

  // The reader's line, or that of whoever delivers, under the lock.
  alignas(kCacheLine) OwnedLock delivering_;
  std::atomic<std::uint32_t> delivered_{0};  // release pairs with free_slot(): the slot may be written again
  std::atomic<std::uintptr_t> ring_;         // address of the slots; lowest bit: there are kManySlots
  Channel* next_ = nullptr;        // announcements, then the reader's polled ones: whoever has made it active
  Channel* next_quiet_ = nullptr;  // of those that the reader is making dormant
  std::uint32_t seen_delivered_ = 0;  // when silence was last looked for
  bool stuck_ = false;  // the next message could not be delivered when it was last tried; locked

  std::array<Slot, kFewSlots> few_;
};

// Two lines and the small ring: what 128 workers, all of which talk to each other, have 16,256 of.
static_assert(sizeof(Channel) == 2 * kCacheLine + Channel::kFewSlots * sizeof(Slot));

class WorkerChannels {
 public:
  /// Bytes that the large rings of a process may take together.
  static constexpr std::size_t kLargeRingBytes = std::size_t{4} << 20;
  /// And their payload rings; with many workers there are none, and what does not fit a slot travels in cells.
  static constexpr std::size_t kPayloadRingBytes = std::size_t{3} << 20;
  /// Polls that have found nothing until silent channels become dormant: some 20 microseconds' worth, what
  /// it costs to announce a hundred channels again.
  static constexpr int kPollsUntilDormant = 16384;

  /// `quick`: the process has a barrier (base/process_barrier.hpp), and those who sleep call it before their last look.
  explicit WorkerChannels(int workers, int polls_until_dormant = kPollsUntilDormant, bool quick = false);
  ~WorkerChannels();
  WorkerChannels(const WorkerChannels&) = delete;

  // The sender: inside worker `from`.
  /// The channel to worker `to`, made now if it is the first time; null if there is no memory.
  Channel* to(int from, int to) noexcept {
    Channel** const row = senders_[static_cast<std::size_t>(from)].channels.get();
    if (row != nullptr && row[to] != nullptr) [[likely]]
      return row[to];
    return make(from, to);
  }
  /// Where the next message is to be written; null if the ring is full: flush() then.
  Slot* free_slot(int from, Channel& channel) noexcept {
    if (channel.sent_ - channel.known_delivered_ > channel.my_mask_) [[unlikely]]
      return look_for_slot(from, channel);
    return &channel.my_ring_[channel.sent_ & channel.my_mask_];
  }
  /// No more than `messages` lie in the channel.
  bool at_most(Channel& channel, std::uint32_t messages) noexcept {
    if (channel.sent_ - channel.known_delivered_ > messages)
      channel.known_delivered_ = channel.delivered_.load(std::memory_order_acquire);
    return channel.sent_ - channel.known_delivered_ <= messages;
  }
  /// Room for the payload of the message that is about to be published; null if there is none in the ring: then
  /// it is left in a cell.
  std::byte* room(int from, Channel& channel, MPI_Count bytes) noexcept {
    if (channel.payloads_ == nullptr) [[unlikely]]
      return look_for_room(from, channel, bytes);
    PayloadRing& ring = *channel.payloads_;
    std::byte* const room = ring.take(channel.sent_ + 1, static_cast<std::uint32_t>(bytes));
    if (room == nullptr) [[unlikely]]
      return look_for_room(from, channel, bytes);
    if (streams(from, channel)) ring.fetch_ahead(static_cast<std::uint32_t>(bytes));
    return room;
  }
  /// The slot that free_slot() has given is filled. Worker `to` must be woken afterwards if it sleeps.
  void publish(int from, Channel& channel, Slot& slot, int to) noexcept {
    fetch_ahead(from, channel, slot.bytes > kSlotLineBytes && slot.bytes <= kSlotBytes);
    // Before the load below, and before the caller looks whether the reader sleeps: make_dormant() and parking have a
    // barrier on this thread. An exchange would wait here until the line has come from the reader.
    if (quick_) [[likely]] {
      slot.turn.store(++channel.sent_, std::memory_order_release);
      quick_barrier();
    } else {
      slot.turn.exchange(++channel.sent_, std::memory_order_seq_cst);
    }
    // seq_cst pairs with make_dormant(): the reader sees the message, or we see that it has stopped looking.
    if (channel.state_.load(std::memory_order_seq_cst) == Channel::kDormant) [[unlikely]]
      announce(channel, to);
  }
  /// Delivers everything that worker `from` has left for worker `to`; a ring that was full grows. False if
  /// there is a message that has to stay where it is.
  template <Deliver kDeliver>
  bool flush(int from, int to) noexcept;

  /// The same for all workers.
  template <Deliver kDeliver>
  bool flush_all(int from) noexcept {
    bool all = true;
    if (senders_[static_cast<std::size_t>(from)].channels == nullptr) return all;
    for (int to = 0; to < workers_; ++to) all = flush<kDeliver>(from, to) && all;
    return all;
  }

  // The reader: inside worker `worker`.
  /// Delivers what has come; true if something was delivered, or if there is reason to look once more before
  /// sleeping. Between announcing sleep and sleeping: sees every message that was published before its sender
  /// looked whether this worker sleeps.
  template <Deliver kDeliver>
  bool drain(int worker) noexcept {
    return drain_until<kDeliver>(worker, Never());
  }
  /// The same, but no more than until `enough()`, which is false before: what is behind stays where it is.
  template <Deliver kDeliver, class Enough>
  bool drain_until(int worker, Enough&& enough) noexcept {
    Reader& reader = readers_[static_cast<std::size_t>(worker)];
    ++reader.looks;
    // seq_cst pairs with announce().
    if (reader.announced.load(std::memory_order_seq_cst) != nullptr) [[unlikely]]
      take_announced(reader);
    bool found = false;
    for (Channel* channel = reader.polled; channel != nullptr; channel = channel->next_) {
      if (channel->has_message()) {
        found |= deliver_to_reader<kDeliver>(worker, *channel, enough);
        if (enough()) return true;
      }
    }
    if (reader.count > 1 && (reader.polls_left -= reader.count) < 0) [[unlikely]]
      make_dormant(worker);
    return found;
  }

  // For tests, reports and benchmarks.
  /// Channels that the next drain(worker) looks at; inside the worker.
  int polled(int worker) const noexcept { return readers_[static_cast<std::size_t>(worker)].count; }
  /// Workers for whom there is a message that could not be delivered when it was last tried. Any thread.
  int stuck() const noexcept;

 private:
  // Written by its worker only, but for `announced` and `stuck`.
  struct alignas(kCacheLine) Reader {
    std::atomic<Channel*> announced{nullptr};  // newest first; a line of its own: senders write it
    alignas(kCacheLine) Channel* polled = nullptr;
    int count = 0;  // of them
    int polls_left = 0;
    std::uint32_t looks = 0;    // drain() has been called so often
    std::atomic<int> stuck{0};  // channels to it that are
  };
  struct alignas(kCacheLine) Sender {
    std::unique_ptr<Channel*[]> channels;  // by receiving worker; null: none yet, or it has never sent
    Channel* large = nullptr;              // those with a large ring
    int large_left = 0;                    // how many more may have one
    int payloads_left = 0;                 // and a PayloadRing
  };

  [[gnu::cold]] Channel* make(int from, int to) noexcept;
  [[gnu::noinline]] Slot* look_for_slot(int from, Channel& channel) noexcept;
  [[gnu::noinline]] std::byte* look_for_room(int from, Channel& channel, MPI_Count bytes) noexcept;
  [[gnu::noinline]] void announce(Channel& channel, int to) noexcept;
  [[gnu::noinline]] void take_announced(Reader& reader) noexcept;
  [[gnu::noinline]] void make_dormant(int worker) noexcept;
  static void poll(Reader& reader, Channel& channel) noexcept;
  static bool stays_dormant(int worker, Channel& channel, bool sure) noexcept;
  // The exchange in publish() waits until the slot's line has come from the reader, who has read it a lap ago.
  // A sender that sends one message after the other has the lines of the next ones fetched meanwhile. One that
  // looks for an answer in between does not: the reader would have to fetch them back when it looks there.
  void fetch_ahead(int from, Channel& channel, bool both_lines) noexcept {
    if (streams(from, channel)) {
      // Nor those that the reader has not read yet.
      if (!channel.large() || channel.sent_ + Channel::kAhead - channel.known_delivered_ > channel.my_mask_)
        return;
      Slot& ahead = channel.my_ring_[(channel.sent_ + Channel::kAhead) & channel.my_mask_];
      fetch_for_writing(&ahead);
      if (both_lines) fetch_for_writing(&ahead.packed[kSlotLineBytes]);
    } else {
      channel.seen_looks_ = readers_[static_cast<std::size_t>(from)].looks;
    }
  }
  // The sender has not looked for messages itself since its last one.
  bool streams(int from, const Channel& channel) const noexcept {
    return channel.seen_looks_ == readers_[static_cast<std::size_t>(from)].looks;
  }
  struct Never {
    constexpr bool operator()() const noexcept { return false; }
  };
  template <Deliver kDeliver, class Enough>
  bool deliver_to_reader(int worker, Channel& channel, Enough&& enough) noexcept;
  struct Delivery {
    bool any, all;   // delivered
    bool was_stuck;  // before
  };
  template <Deliver kDeliver, std::memory_order kOrder, class Enough>
  Delivery deliver_all(int caller, Reader& reader, Channel& channel, Enough&& enough) noexcept;
  [[gnu::cold]] static void note_stuck(Reader& reader, Channel& channel, bool stuck) noexcept;
  [[gnu::cold]] void grow(int from, Channel& channel) noexcept;
  struct LargeRing {
    Slot* slots = nullptr;
    std::unique_ptr<PayloadRing> payloads;
  };
  [[gnu::cold]] LargeRing take_large_ring(int from) noexcept;

  const int workers_;
  const int polls_until_dormant_;
  const bool quick_;
  std::unique_ptr<Sender[]> senders_;
  std::unique_ptr<Reader[]> readers_;
};

// ---- Delivering ----

// `caller`: the reader's worker, or the sender's. `kOrder` of what the reader's next look has to see: release by
// the reader itself, seq_cst by the sender (has_message()).
template <Deliver kDeliver, std::memory_order kOrder, class Enough>
inline WorkerChannels::Delivery WorkerChannels::deliver_all(int caller, Reader& reader, Channel& channel,
                                                            Enough&& enough) noexcept {
  bool any = false, all = true;
  const OwnedLock::Hold hold = channel.delivering_.lock(caller);
  while (channel.has_message()) {
    const std::uint32_t next = channel.delivered_.load(std::memory_order_relaxed);
    if (!kDeliver(Channel::Ring(channel.ring_.load(std::memory_order_relaxed))[next])) {
      all = false;
      break;
    }
    // More than one: the line of the one after next comes while the next one is delivered. Not before, the
    // sender may be writing it.
    if (any) __builtin_prefetch(&Channel::Ring(channel.ring_.load(std::memory_order_relaxed))[next + 2]);
    any = true;
    channel.delivered_.store(next + 1, kOrder);
    if (enough()) {
      // The reader wants the next one soon.
      __builtin_prefetch(&Channel::Ring(channel.ring_.load(std::memory_order_relaxed))[next + 1]);
      break;
    }
  }
  const bool was_stuck = channel.stuck_;
  if (was_stuck == all) [[unlikely]]
    note_stuck(reader, channel, !all);
  channel.delivering_.unlock(hold);
  return {any, all, was_stuck};
}

// What cannot be delivered stays, and is tried again at every later look. A worker with nothing else to do
// looks once more before it sleeps, and then sleeps: it does not wait for memory by spinning.
template <Deliver kDeliver, class Enough>
inline bool WorkerChannels::deliver_to_reader(int worker, Channel& channel, Enough&& enough) noexcept {
  Reader& reader = readers_[static_cast<std::size_t>(worker)];
  const Delivery done = deliver_all<kDeliver, std::memory_order_release>(worker, reader, channel, enough);
  return done.any || (!done.all && !done.was_stuck);
}

template <Deliver kDeliver>
bool WorkerChannels::flush(int from, int to) noexcept {
  Sender& sender = senders_[static_cast<std::size_t>(from)];
  if (sender.channels == nullptr) return true;
  Channel* const channel = sender.channels[static_cast<std::size_t>(to)];
  if (channel == nullptr || channel->known_delivered_ == channel->sent_) return true;
  const bool full = channel->sent_ - channel->known_delivered_ > channel->my_mask_;
  Reader& reader = readers_[static_cast<std::size_t>(to)];
  // All that we have sent is in sight of us: it is delivered, or cannot be.
  if (!deliver_all<kDeliver, std::memory_order_seq_cst>(from, reader, *channel, Never()).all) return false;
  channel->known_delivered_ = channel->sent_;
  if (full && !channel->large()) grow(from, *channel);
  return true;
}

}  // namespace tmpi::mpi
