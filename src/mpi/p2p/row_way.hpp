// RowWay: which way the messages of a row take (worker_channels.hpp), told by what whole rows have taken of late.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tmpi::mpi {

/// Past the channel a message is copied once, but its sender waits for lines of the receiver's, one after the other: 130 ns
/// or 400, as the cores lie. Through it there are two copies, and nobody waits. One sender's; does not suspend.
class RowWay {
 public:
  /// So many rows from one decision to the next; so many of them at the end go this way and are timed, then as many the other.
  static constexpr int kPeriod = 256, kTries = 8;

  /// The next rows go past the channel.
  bool past() const noexcept { return past_; }
  /// A row of so many messages has gone the way of past(), and begun so many ticks before the next one.
  void note(std::uint64_t ticks, std::uint32_t messages) noexcept {
    (past_ ? by_past_ : by_channel_).add(ticks / messages);
    ++rows_;
    if (rows_ == kPeriod - 2 * kTries) {
      by_past_ = by_channel_ = {};
    } else if (rows_ == kPeriod - kTries) {
      past_ = !past_;
    } else if (rows_ == kPeriod) {
      rows_ = 0;
      past_ = by_past_.ticks() <= by_channel_.ticks();
    }
  }

 private:
  // All of them but for the longest, in which somebody else may have had the core.
  class Timed {
   public:
    void add(std::uint64_t ticks) noexcept {
      sum_ += ticks;
      longest_ = std::max(longest_, ticks);
    }
    std::uint64_t ticks() const noexcept { return sum_ - longest_; }

   private:
    std::uint64_t sum_ = 0, longest_ = 0;
  };

  Timed by_past_, by_channel_;
  std::int16_t rows_ = kPeriod - 2 * kTries;  // since the last decision; the first one comes soon
  bool past_ = true;
};

}  // namespace tmpi::mpi
