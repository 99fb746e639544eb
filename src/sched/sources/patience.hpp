// Patience: how long a worker that has nothing to run spins before it sleeps. A wake-up through the kernel costs some 50
// microseconds, so that long at least (Karlin et al., Competitive randomized algorithms for nonuniform problems, 1990:
// never more than twice what the best choice would have cost). Where sleeps turn out to be short, as between the phases
// of a program whose cores have a little unlike amounts to do, or where the host takes a virtual processor away that
// sleeps, each of them costs a wake-up too many: then longer, until they are long again. Used by its worker alone.
#pragma once

#include <cstdint>

namespace tmpi::sched {

class Patience {
 public:
  /// Sleeps that are no longer than so many times `least` are short.
  static constexpr std::uint64_t kShort = 8;
  /// The longest patience is 2^kMostDoublings times `least`.
  static constexpr int kMostDoublings = 4;

  /// Ticks to spin for, where `least` is what a wake-up costs; 0: this worker must not spin.
  std::uint64_t ticks(std::uint64_t least) const noexcept { return least << doublings_; }
  /// The worker has spun in vain, and slept for `slept` ticks until it was woken.
  void note_sleep(std::uint64_t slept, std::uint64_t least) noexcept {
    if (slept > kShort * least) {
      if (doublings_ > 0) --doublings_;
    } else if (doublings_ < kMostDoublings) {
      ++doublings_;
    }
  }

 private:
  int doublings_ = 0;
};

}  // namespace tmpi::sched
