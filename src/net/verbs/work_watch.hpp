// Whether the work requests of a queue pair end. An adapter ends each by itself: it is done, or given up after its
// retries. Where adapter, driver or fabric do neither, nobody would ever be told: the job would wait for ever.
//
// A request that is slow is no such request. So what counts is the oldest one alone, since those behind it wait for
// it; what it moves is given time at a rate that every network has; and only time in which this process has looked
// counts, since it may have been stopped, or have computed, while the completion was there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tmpi::net::verbs {

/// Time between looks, of which each counts for little, however long ago the last one was. Nanoseconds.
class LookTime {
 public:
  static constexpr std::uint64_t kPeriod = 100'000'000;  ///< between two looks, at least
  static constexpr std::uint64_t kMost =
      500'000'000;  ///< that one counts for; who sleeps wakes up for the next

  /// What counts since the last look; 0: it is too early for another one.
  std::uint64_t advance(std::uint64_t now) noexcept {
    if (now - last_ < kPeriod) return 0;
    return std::min(now - std::exchange(last_, now), kMost);
  }

 private:
  std::uint64_t last_ = 0;
};

class WorkWatch {
 public:
  static constexpr std::uint64_t kSlowest =
      10'000'000;  ///< bytes per second: of one queue pair of many on one port

  /// A look while something is under way: the oldest request has the number `oldest` and moves `bytes`; `elapsed` as
  /// LookTime says. True: it has been the oldest for `patience` nanoseconds and the time that its bytes may take.
  bool look(std::uint32_t oldest, std::uint64_t bytes, std::uint64_t elapsed,
            std::uint64_t patience) noexcept {
    if (oldest != oldest_) {
      oldest_ = oldest;
      waited_ = 0;
      return false;
    }
    waited_ += elapsed;
    return waited_ >= patience + bytes * (1'000'000'000 / kSlowest);
  }

 private:
  std::uint32_t oldest_ = UINT32_MAX;
  std::uint64_t waited_ = 0;
};

}  // namespace tmpi::net::verbs
