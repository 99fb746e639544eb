// Peers: with whom a task exchanges messages, and what that would cost if both were on different workers: what `refine`
// asks (assignment.hpp), and who takes tasks of others (affinity.hpp). Of those to whom it has sent, the few that count
// most: when the table is full, the one that counts least makes room and leaves its cost to the new one (Metwally et al.,
// "Space-Saving", ICDT 2005), so that who matters is found, and none of them is taken for less than it is.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace tmpi::sched {

class Peers {
 public:
  static constexpr int kMost = 8;

  /// Where the task runs; one thread at a time.
  void add(std::uint32_t task, std::uint64_t nanoseconds) noexcept {
    std::atomic<std::uint64_t>* least = entries_.data();
    for (std::atomic<std::uint64_t>& entry : entries_) {
      const std::uint64_t value = entry.load(std::memory_order_relaxed);
      if (value >> kBits == task + 1) return put(entry, task, (value & kMask) + nanoseconds);
      if ((value & kMask) < (least->load(std::memory_order_relaxed) & kMask)) least = &entry;
    }
    put(*least, task, (least->load(std::memory_order_relaxed) & kMask) + nanoseconds);
  }
  /// Calls use(task, nanoseconds) for each and forgets them; any one thread. What is added meanwhile may be counted
  /// twice or not at all.
  template <class Use>
  void take(Use&& use) noexcept {
    for (std::atomic<std::uint64_t>& entry : entries_) {
      if (entry.load(std::memory_order_relaxed) == 0) continue;
      const std::uint64_t value = entry.exchange(0, std::memory_order_relaxed);
      if (value >> kBits != 0) use(static_cast<std::uint32_t>(value >> kBits) - 1, value & kMask);
    }
  }

 private:
  static constexpr int kBits = 40;  // a quarter of an hour; above them the task's number + 1, 0: none
  static constexpr std::uint64_t kMask = (std::uint64_t{1} << kBits) - 1;
  static void put(std::atomic<std::uint64_t>& entry, std::uint64_t task, std::uint64_t cost) noexcept {
    entry.store((task + 1) << kBits | (cost & kMask), std::memory_order_relaxed);
  }

  std::array<std::atomic<std::uint64_t>, kMost> entries_{};
};

}  // namespace tmpi::sched
