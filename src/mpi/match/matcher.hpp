// Matcher: where messages to one rank meet its receives. Posted receives and unexpected messages, each found
// in O(1) without wildcards (hash by context, source, tag once there are many), in MPI's order: a 64-bit
// sequence number decides between an exact and a wildcard receive (MPI report, 3.5). Allocates nothing while
// idle. Locked by its users for a few nanoseconds per operation: data moves outside the lock. Nothing here
// suspends. Mechanism: docs/matching.md.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/spinlock.hpp"
#include "mpi/match/message.hpp"

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

class Matcher {
 public:
  Matcher() = default;
  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;

  /// Held around every call below.
  void lock() noexcept;
  void unlock() noexcept;

  // The sender's side.
  /// Takes out and returns the oldest posted receive for a message with this key; null if there is none.
  PostedReceive* take_posted(const MatchKey& message) noexcept;
  /// Leaves a message; wakes probes that were waiting for it.
  void add_unexpected(Message& message) noexcept;

  // The receiver's side.
  /// Takes out and returns the oldest message this receive accepts; null if there is none.
  Message* take_unexpected(const MatchKey& receive) noexcept;
  /// Finds it without taking it out (probe).
  Message* find_unexpected(const MatchKey& receive) noexcept;
  void add_posted(PostedReceive& receive) noexcept;
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
  /// The unexpected messages, oldest first, linked by `next`.
  const Message* first_unexpected() const noexcept { return first_unexpected_; }
  std::size_t posted_count() const noexcept { return inline_count_ + overflow_count_; }

 private:
  static constexpr int kInline = 6;  // posted receives found by a linear scan; more go to the table
  static constexpr std::size_t kScanLimit =
      16;  // unexpected messages found by a linear scan before a table is made

  struct InlineEntry {
    MatchKey key;
    PostedReceive* receive;
  };
  template <class Node>
  struct List {
    Node* head = nullptr;
    Node* tail = nullptr;
  };

  // Posted receives beyond the inline ones: exact ones by hash, wildcards in order.
  void add_overflow(PostedReceive& receive) noexcept;
  void unlink_overflow(PostedReceive& receive) noexcept;
  PostedReceive* take_overflow(const MatchKey& message) noexcept;
  PostedReceive* take_inline(int index) noexcept;
  List<PostedReceive>& posted_list(const MatchKey& key) noexcept;
  void grow_posted_table();

  void index_message(Message& message) noexcept;
  void unlink(Message& message) noexcept;
  void count_buffered(MPI_Count change) noexcept {
    const auto now = static_cast<MPI_Count>(buffered_bytes_.load(std::memory_order_relaxed)) + change;
    buffered_bytes_.store(static_cast<std::size_t>(now), std::memory_order_relaxed);
  }
  void grow_unexpected_table();

  SpinLock lock_;
  int inline_count_ = 0;
  std::size_t overflow_count_ = 0;
  std::uint64_t sequence_ = 0;
  Message* first_unexpected_ = nullptr;
  Message* last_unexpected_ = nullptr;
  std::size_t unexpected_count_ = 0;
  std::atomic<std::size_t> buffered_bytes_{0};  // written under the lock
  ProbeWaiter* probes_ = nullptr;
  std::array<InlineEntry, kInline> inline_{};
  List<PostedReceive> wildcards_;
  std::vector<List<PostedReceive>> posted_table_;  // size a power of two, empty until needed
  std::vector<List<Message>> unexpected_table_;    // the same
};

class MatcherLock {
 public:
  explicit MatcherLock(Matcher& matcher) noexcept : matcher_(matcher) { matcher_.lock(); }
  ~MatcherLock() { matcher_.unlock(); }
  MatcherLock(const MatcherLock&) = delete;

 private:
  Matcher& matcher_;
};

}  // namespace tmpi::mpi
