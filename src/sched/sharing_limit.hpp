// From how many bytes on it pays for a worker to have another one, that idles, copy the half of something
// (mpi/p2p/shared_copy.hpp). How long an offer and its answer travel depends on how far apart the two cores are and, in a
// virtual machine, on where its host has put them this minute (50 to 300 ns a line), so it is learnt from the copies
// themselves. docs/design/matching.md, "Large messages".
#pragma once

#include <algorithm>
#include <cstdint>

#include "timers/clock.hpp"

namespace tmpi::sched {

/// One worker's knowledge, as the one that offers. Used by it alone.
class SharingLimit {
 public:
  /// What is learnt lies between these; a worker begins with the least.
  static constexpr std::uint64_t kLeast = std::uint64_t{64} << 10, kMost = std::uint64_t{512} << 10;
  /// Of so many copies that are shared one is measured: it takes three time stamps.
  static constexpr unsigned kMeasured = 8;
  /// Of so many copies below the limit one is shared, and measured, so that the limit can fall again.
  static constexpr unsigned kProbed = 256;

  enum class Way { kAlone, kShared, kMeasured };
  /// How the worker is to copy so many bytes.
  Way choose(std::uint64_t bytes) noexcept {
    if (bytes < limit_) return ++alone_ % kProbed == 0 ? Way::kMeasured : Way::kAlone;
    return shared_++ % kMeasured == 0 ? Way::kMeasured : Way::kShared;
  }
  /// A copy of so many bytes was shared: when its owner had done its half, and when all was done, in time of one unit
  /// since it was offered. The same again as the first half would have ended at twice that; the rest is what sharing
  /// costs, however many bytes it is that are shared. A step up or down, since one that was interrupted says nothing.
  void note(std::uint64_t bytes, std::uint64_t half, std::uint64_t all) noexcept {
    const bool pays_from_here = static_cast<double>(bytes) * static_cast<double>(all - half) <=
                                static_cast<double>(limit_) * static_cast<double>(half);
    limit_ = pays_from_here ? std::max(limit_ - limit_ / 5, kLeast) : std::min(limit_ + limit_ / 4, kMost);
  }
  std::uint64_t bytes() const noexcept { return limit_; }

  /// Of a copy that is shared, from the offer on, if choose() wants that.
  class Measurement {
   public:
    Measurement(SharingLimit& limit, std::uint64_t bytes, Way way) noexcept
        : limit_(limit), bytes_(bytes), start_(way == Way::kMeasured ? timers::now_ticks() : 0) {}
    /// Its owner has done its half.
    void half_done() noexcept {
      if (start_ != 0) half_ = timers::now_ticks() - start_;
    }
    /// All is done. Without this nothing has been learnt.
    void done() noexcept {
      if (start_ != 0) limit_.note(bytes_, half_, timers::now_ticks() - start_);
    }

   private:
    SharingLimit& limit_;
    const std::uint64_t bytes_, start_;
    std::uint64_t half_ = 0;
  };

 private:
  std::uint64_t limit_ = kLeast;
  unsigned alone_ = 0, shared_ = 0;
};

}  // namespace tmpi::sched
