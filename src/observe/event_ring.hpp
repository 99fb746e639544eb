// EventRing: the newest events of one worker in a fixed amount of memory. What is overwritten is counted, and
// of messages it is remembered how many of each kind went (MessageTally), so that those that are left can
// still be paired (messages.hpp). One thread writes, without locks; reading is for when it has stopped. Does
// not suspend, allocates only in open().
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "base/result.hpp"
#include "observe/event.hpp"
#include "observe/message_tally.hpp"

namespace tmpi::observe {

class EventRing {
 public:
  EventRing() = default;
  EventRing(const EventRing&) = delete;
  EventRing& operator=(const EventRing&) = delete;
  ~EventRing();

  /// Reserves `bytes` (at least one event); pages are committed as they are first written, by the writer.
  Result<void> open(std::size_t bytes);

  void push(const Event& event) noexcept {
    const std::uint64_t written = written_.load(std::memory_order_relaxed);
    Event& place = events_[next_];
    if (written >= capacity_) [[unlikely]]
      drop(place);
    place = event;
    if (++next_ == capacity_) next_ = 0;
    written_.store(written + 1, std::memory_order_release);  // pairs with the acquire in written()
  }

  std::uint64_t written() const noexcept { return written_.load(std::memory_order_acquire); }
  std::uint64_t kept() const noexcept { return written() < capacity_ ? written() : capacity_; }
  std::uint64_t dropped() const noexcept { return written() - kept(); }
  std::uint64_t capacity() const noexcept { return capacity_; }

  /// Tick of the last dropped event: from then on this ring is complete. 0: nothing was dropped.
  std::uint64_t complete_since() const noexcept { return complete_since_; }
  const MessageTally& dropped_messages() const noexcept { return dropped_messages_; }

  /// Calls `visit(const Event&)` for each event that is left, oldest first.
  template <class Visit>
  void for_each(Visit visit) const {
    const std::uint64_t end = written();
    for (std::uint64_t i = end - kept(); i < end; ++i) visit(events_[i % capacity_]);
  }

 private:
  void drop(const Event& event) noexcept;

  Event* events_ = nullptr;
  std::uint64_t next_ = 0;
  std::uint64_t capacity_ = 0;
  std::atomic<std::uint64_t> written_{0};
  std::uint64_t complete_since_ = 0;
  MessageTally dropped_messages_;
};

}  // namespace tmpi::observe
