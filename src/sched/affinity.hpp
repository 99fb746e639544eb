// Affinity: which tasks of a busy worker one that idles takes, and in which order: those whose home it is, or whose
// partners run there; then any; then one that it would part from its partners. Who talks to whom has been measured
// (balancer.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "sched/peers.hpp"

namespace tmpi::sched {

/// With whom a task exchanges most, and how much it computes, as measured last. Written by whoever measures, read by any;
/// relaxed: what is read meanwhile may be half old, half new.
class Ties {
 public:
  static constexpr int kMost = Peers::kMost;

  /// Of the time, how much the task runs.
  void set_share(double share) noexcept { share_.store(share, std::memory_order_relaxed); }
  double share() const noexcept { return share_.load(std::memory_order_relaxed); }

  /// One of kMost: messages from and to `task` would take so much of the time of each of two workers; -1: nobody's.
  void set(int number, int task, double cost) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(cost));
    ties_[static_cast<std::size_t>(number)].store(
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(task + 1)) << 32 | bits,
        std::memory_order_relaxed);
  }
  /// Calls use(task, cost) for each until the first that is nobody's.
  template <class Use>
  void for_each(Use&& use) const noexcept {
    for (const std::atomic<std::uint64_t>& tie : ties_) {
      const std::uint64_t value = tie.load(std::memory_order_relaxed);
      if (value >> 32 == 0) return;
      use(static_cast<int>(value >> 32) - 1, std::bit_cast<float>(static_cast<std::uint32_t>(value)));
    }
  }

 private:
  std::atomic<double> share_{0};
  std::array<std::atomic<std::uint64_t>, kMost> ties_{};
};

/// What a worker that idles is to a task that it could take: it takes them in this order.
enum class Fit : std::uint8_t {
  kBelongs,  ///< its home, or the worker of those to whom it talks
  kAny,
  kParted,  ///< those to whom it talks are where it is: taken if there is nothing else, and goes back
  kStays,   ///< ... and so much that messages would cost more than is gained
};
inline constexpr int kRounds = 3;  ///< those that are taken at all

/// Of a task that runs for `share` of the time: messages would take `drawn` of it less if it went there, or more if that
/// is negative. `home`: it belongs there, if messages say nothing else.
inline Fit fit(double drawn, double share, bool home) noexcept {
  constexpr double kHardly = 0.02;  // of what it computes: messages that are no reason for anything
  constexpr double kTooMuch =
      0.5;  // likewise: both workers would pay that, and one is rid of what it computes
  constexpr double kNothing = 0.01;  // of the time: so little may be paid for a task that others wait for
  if (drawn > kHardly * share) return Fit::kBelongs;
  if (drawn >= -kHardly * share) return home ? Fit::kBelongs : Fit::kAny;
  return -drawn > std::max(kTooMuch * share, kNothing) ? Fit::kStays : Fit::kParted;
}

}  // namespace tmpi::sched
