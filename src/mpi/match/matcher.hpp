// Matcher: where messages to one rank meet its receives. Posted receives and unexpected messages, each found
// in O(1) without wildcards (hash by context, source, tag once there are many), in MPI's order: a 64-bit
// sequence number decides between an exact and a wildcard receive (MPI report, 3.5). Who brings a message
// calls arrive(), who wants one receive(); both say only what they have, the decision is made here.
//
// Allocates nothing while idle, and nothing fails for want of memory: hash tables that cannot grow stay as
// they are, and matching is slower then. Data moves outside the lock, which is held for a few nanoseconds per
// operation. Nothing here suspends. Mechanism: docs/design/matching.md.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "base/owned_lock.hpp"
#include "mpi/match/message.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::sched {
class Waiter;
}

namespace tmpi::mpi {

/// A rank blocked in MPI_Probe: told by the first unexpected message that matches.
struct ProbeWaiter {
  MatchKey key;
  sched::Waiter* waiter = nullptr;
  ProbeWaiter* next = nullptr;
};

/// What became of a message that has come.
struct MatchResult {
  /// The receive that it matches, no longer posted: the caller moves the data and completes it. Null: none.
  Request* receive = nullptr;
  /// It lies among the unexpected messages, and may have been received since. If neither, it is where it was,
  /// and arrives again later.
  bool left = false;
};

class Matcher {
 public:
  Matcher() = default;
  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;

  // Whole operations, under the lock that they take themselves.
  /// A message has come: the oldest posted receive that accepts it takes it, else it is left as unexpected
  /// and wakes the probes that wait for it. `leave()`, called under the lock and only if no receive accepts
  /// the message, returns the Message to be left, filled but for its key, or null if there is nothing to
  /// leave now: no memory, or the data is not here yet. Must not call the matcher.
  template <class Leave>
  MatchResult arrive(const MatchKey& key, Leave&& leave) noexcept;
  /// The receiver's side: takes out and returns the oldest unexpected message that a receive with this key
  /// accepts; if there is none, posts the receive and returns null. `post()`, called under the lock and only
  /// then, returns the PostedReceive, filled but for its key. Must not call the matcher.
  template <class Post>
  Message* receive(const MatchKey& key, Post&& post) noexcept;

  /// How the lock is held, for unlock().
  enum class Hold : std::uint8_t {
    kFree,   ///< nobody else is there: sched::single_worker()
    kBias,   ///< by sched::bias()
    kWord,   ///< by `lock_`
    kOwner,  ///< ... as its owner
  };
  /// Held around every call below. On the worker's thread, in its monitor, or on a thread that is no worker's and holds a
  /// Claim on sched::bias() besides.
  [[nodiscard]] Hold lock() noexcept {
    // Only that worker's fibers come here, and none is suspended inside.
    return sched::single_worker() ? Hold::kFree : lock_against_others();
  }
  /// The same for whoever may be on a worker's thread, but outside of its monitor, and holds that Claim.
  [[nodiscard]] Hold lock_from_outside() noexcept;
  void unlock(Hold hold) noexcept {
    if (hold != Hold::kFree) unlock_for_others(hold);
  }

  /// The oldest message that a receive with this key would accept; null if there is none. Taken out, or left
  /// where it is.
  Message* take_unexpected(const MatchKey& receive) noexcept;
  Message* find_unexpected(const MatchKey& receive) noexcept;
  /// Tells `probe` of the next message that it accepts; there is none yet.
  void add_probe(ProbeWaiter& probe) noexcept;

  // Cancelling, either side.
  /// The youngest message with exactly this key and serial number; null if there is none.
  Message* find_youngest(const MatchKey& message, std::uint16_t serial) noexcept;
  void remove(PostedReceive& receive) noexcept;
  void remove(Message& message) noexcept;

  /// Bytes of payload lying in cells here: senders stop buffering above a limit (p2p/channel.hpp).
  /// Without the lock, a recent value.
  std::size_t buffered_bytes() const noexcept { return buffered_bytes_.load(std::memory_order_relaxed); }
  std::size_t unexpected_count() const noexcept { return unexpected_count_; }
  /// Messages that have come before their receive, and the most that have been here at a time since the last
  /// restart_most_unexpected(). Under the lock.
  std::uint64_t unexpected_total() const noexcept { return unexpected_total_; }
  std::size_t most_unexpected() const noexcept { return most_unexpected_; }
  void restart_most_unexpected() noexcept { most_unexpected_ = unexpected_count_; }
  /// The unexpected messages, oldest first, linked by `next`.
  const Message* first_unexpected() const noexcept { return first_unexpected_; }
  Message* first_unexpected() noexcept { return first_unexpected_; }
  std::size_t posted_count() const noexcept { return inline_count_ + chained_ + overflow_count_; }
  /// Changes with every message that comes and every receive that is posted or matched.
  std::uint64_t history() const noexcept {
    return (sequence_ * 31 + posted_count()) * 31 + unexpected_count_;
  }

  /// Keys of posted receives found by a linear scan; more go to a table.
  static constexpr int kInline = 6;
  /// Unexpected messages found by a linear scan before a table is made.
  static constexpr std::size_t kScanLimit = 16;

 private:
  friend struct FactsOfQueues;  // mpi/diagnose/debugger_queue_facts.cpp
  template <class Node>
  struct List {
    Node* head = nullptr;
    Node* tail = nullptr;
  };
  // Receives with the same key that were posted one after the other: as many as a program posts ahead.
  struct InlineEntry {
    MatchKey key;
    List<PostedReceive> receives;
  };
  // Hash buckets: a single one, which needs no memory, until make() has been called.
  template <class Node>
  class Buckets {
   public:
    std::size_t size() const noexcept { return mask_ + 1; }
    List<Node>& operator[](std::size_t index) noexcept { return many_ == nullptr ? one_ : many_[index]; }
    List<Node>& of(const MatchKey& key) noexcept {
      return many_ == nullptr ? one_ : many_[key.hash() & mask_];
    }
    /// `size` (a power of two) empty ones; false if there is no memory.
    bool make(std::size_t size) noexcept {
      many_.reset(new (std::nothrow) List<Node>[size]);
      if (many_ == nullptr) return false;
      mask_ = size - 1;
      return true;
    }

   private:
    friend struct FactsOfQueues;
    List<Node> one_;
    std::unique_ptr<List<Node>[]> many_;
    std::size_t mask_ = 0;
  };

  Hold lock_against_others() noexcept;
  void unlock_for_others(Hold hold) noexcept;
  PostedReceive* take_posted(const MatchKey& message) noexcept;
  void add_posted(PostedReceive& receive) noexcept;
  /// Returns the probes that it is for, chained: to be woken without the lock.
  [[nodiscard]] ProbeWaiter* add_unexpected(Message& message) noexcept;
  static void wake(ProbeWaiter* probes) noexcept;

  // Posted receives beyond the inline ones: exact ones by hash, wildcards in order.
  void add_overflow(PostedReceive& receive) noexcept;
  void unlink_overflow(PostedReceive& receive) noexcept;
  PostedReceive* find_overflow(const MatchKey& message) noexcept;
  PostedReceive* take_inline(int index) noexcept;
  void grow_posted_table() noexcept;
  List<PostedReceive>& posted_list(const MatchKey& key) noexcept {
    return key.exact() ? posted_table_.of(key) : wildcards_;
  }

  void index_message(Message& message) noexcept;
  void index_more() noexcept;
  void unlink(Message& message) noexcept;
  void count_buffered(MPI_Count change) noexcept {
    const auto now = static_cast<MPI_Count>(buffered_bytes_.load(std::memory_order_relaxed)) + change;
    buffered_bytes_.store(static_cast<std::size_t>(now), std::memory_order_relaxed);
  }

  // To post a receive, and to match a message with the only one that is posted, takes the first line alone: senders of
  // large messages fetch it from another core.
  OwnedLock lock_;
  std::int16_t inline_count_ = 0;
  std::uint32_t chained_ = 0;  // receives of inline entries behind their first one
  std::uint32_t overflow_count_ = 0;
  std::uint64_t sequence_ = 0;
  Message* first_unexpected_ = nullptr;
  std::array<InlineEntry, kInline> inline_{};
  Message* last_unexpected_ = nullptr;
  std::size_t unexpected_count_ = 0;
  bool indexed_ = false;  // all of them are in the table: from when there are many until there are none
  std::size_t most_unexpected_ = 0;
  std::uint64_t unexpected_total_ = 0;
  std::atomic<std::size_t> buffered_bytes_{0};  // written under the lock
  ProbeWaiter* probes_ = nullptr;
  List<PostedReceive> wildcards_;
  Buckets<PostedReceive> posted_table_;
  Buckets<Message> unexpected_table_;  // used while indexed_, never a single bucket; else the list is scanned
};

class MatcherLock {
 public:
  explicit MatcherLock(Matcher& matcher) noexcept : matcher_(matcher), hold_(matcher.lock()) {}
  /// `hold`: of the matcher, as it has been taken.
  MatcherLock(Matcher& matcher, Matcher::Hold hold) noexcept : matcher_(matcher), hold_(hold) {}
  ~MatcherLock() { matcher_.unlock(hold_); }
  MatcherLock(const MatcherLock&) = delete;

 private:
  Matcher& matcher_;
  const Matcher::Hold hold_;
};

template <class Leave>
inline MatchResult Matcher::arrive(const MatchKey& key, Leave&& leave) noexcept {
  const Hold hold = lock();
  if (PostedReceive* const posted = take_posted(key)) {
    unlock(hold);
    return {posted->request, false};
  }
  Message* const message = leave();
  ProbeWaiter* probes = nullptr;
  if (message != nullptr) {
    message->key = key;
    probes = add_unexpected(*message);
  }
  unlock(hold);
  if (probes != nullptr) [[unlikely]]
    wake(probes);
  return {nullptr, message != nullptr};
}

template <class Post>
inline Message* Matcher::receive(const MatchKey& key, Post&& post) noexcept {
  const Hold hold = lock();
  Message* const message = take_unexpected(key);
  if (message == nullptr) {
    PostedReceive& receive = post();
    receive.key = key;
    add_posted(receive);
  }
  unlock(hold);
  return message;
}

}  // namespace tmpi::mpi
