// Arrivals: how members that come together are counted in. It is the same wherever they do: at the
// shared-memory barrier, in a slot of the slot ring, at a keyed barrier. The last one to come goes on, and
// lets the others go on. These wait in a list until then: a flow of control asleep, or a continuation that a
// nonblocking operation has left behind. Members of one worker group count without atomics, since they never
// run at the same time; groups that are complete are counted by one atomic.
#pragma once

#include <atomic>
#include <cstdint>

#include "mpi/request/wait_list.hpp"

namespace tmpi::mpi {

/// The members of one worker group; or any members, under a lock.
struct GroupArrivals {
  int expected = 0;
  int arrived = 0;
  WaitList waiting;

  /// Counts the caller in. True: it is the last, and the next ones are counted anew.
  bool count() noexcept {
    if (++arrived < expected) return false;
    arrived = 0;
    return true;
  }
  /// The caller would be the last.
  bool one_missing() const noexcept { return arrived + 1 == expected; }
};

/// The worker groups that are complete.
class CompleteGroups {
 public:
  /// Counts the caller's group in, which is complete. True: it is the last of `groups`, and the next ones are
  /// counted anew. The last one sees everything that the others did before.
  bool count(int groups) noexcept { return groups == 1 || sum_if_last(groups, 1) != 0; }
  enum class Counted : unsigned char { kNotLast, kAllEqual, kNotEqual };
  /// The same where each group brings a number, of which the upper 48 bits count: have all brought that of the last? By
  /// a sum in the same word, so it is right for numbers that are as good as random only.
  Counted count(int groups, std::uint64_t brought) noexcept {
    const std::uint64_t mine = (brought & ~kNumber) | 1;
    const std::uint64_t sum = sum_if_last(groups, mine);
    if (sum == 0) return Counted::kNotLast;
    return sum == static_cast<std::uint64_t>(groups) * mine ? Counted::kAllEqual : Counted::kNotEqual;
  }
  /// Only one of `groups` is missing; a guess if others count at the same time.
  bool one_missing(int groups) const noexcept {
    return number(complete_.load(std::memory_order_relaxed)) + 1 == groups;
  }

 private:
  static constexpr std::uint64_t kNumber = 0xFFFF;  // of worker groups: as many as workers of a node process
  static int number(std::uint64_t word) noexcept { return static_cast<int>(word & kNumber); }

  // Adds `mine`, whose number is 1. The sum if the caller is the last, else 0.
  std::uint64_t sum_if_last(int groups, std::uint64_t mine) noexcept {
    // acq_rel: pairs with the other groups' counting.
    const std::uint64_t sum = complete_.fetch_add(mine, std::memory_order_acq_rel) + mine;
    if (number(sum) < groups) return 0;
    complete_.store(0, std::memory_order_relaxed);  // published by whatever lets the others go on
    return sum;
  }

  std::atomic<std::uint64_t> complete_{0};
};

}  // namespace tmpi::mpi
