// PollWatch: notices that the tasks of a process do nothing any more but look for something in vain, over and over
// (yield_polling() in task.hpp), or are blocked: what StallWatch is for tasks that wait. Nobody sleeps then, so a
// clock decides, and only tight loops count: a task that does some work of its own between two looks is at work.
//
// A poll costs one counter. Every 64th measures how long the task stays away, every 4096th looks at the clock, and
// once a period (a second) one of them looks at all tasks.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/platform.hpp"
#include "sched/scheduler.hpp"
#include "sched/task.hpp"

namespace tmpi::sched {

class PollWatch {
 public:
  using Loops = std::vector<RunLoop*>;

  explicit PollWatch(const Loops& workers) noexcept : workers_(workers) {}

  /// Before the workers run. `tasks`: there will be at most so many.
  void set(PollHook hook, double period, const Scheduler& scheduler, int tasks);

  /// The running task has come to poll. Its worker's thread.
  void come(PollCount& polls) noexcept {
    const std::uint32_t number = polls.number.load(std::memory_order_relaxed) + 1;
    polls.number.store(number, std::memory_order_relaxed);
    if (number % kMeasured == 1) [[unlikely]]
      measure(polls);
    if (number % kBetweenLooks == 0 && hook_ != nullptr) [[unlikely]]
      look();
  }
  /// It goes back to what it does between polls.
  void go(PollCount& polls) noexcept;

  /// Raised whenever a look shows that some task has done something else.
  std::uint64_t interruptions() const noexcept { return interruptions_.load(std::memory_order_relaxed); }

  static constexpr std::uint32_t kMeasured = 64;

 private:
  // What one look has shown of a task.
  struct Seen {
    std::uint32_t number = 0;
    std::uint32_t away = 0;
  };
  static constexpr std::uint32_t kBetweenLooks = 4096;
  static constexpr std::uint32_t kFewest = 2000;  // polls in a second that are a tight loop
  // s. A loop around a test takes a quarter of it for itself, the quickest stat() twice as much. Where system calls are
  // slow (they empty the TLB, in some emulated machines), so is what comes after the poll's own, that of the network: half
  // of the cheapest one then.
  static constexpr double kAway = 120e-9;

  void measure(PollCount& polls) const noexcept;
  void look() noexcept;
  bool all_poll_or_wait() noexcept;

  const Loops& workers_;
  PollHook hook_ = nullptr;
  const Scheduler* scheduler_ = nullptr;
  std::uint64_t away_ticks_ = 0;
  std::uint64_t period_ticks_ = 0;
  std::uint32_t fewest_ = 0;
  std::vector<Seen> seen_;      // by task
  std::uint64_t activity_ = 0;  // at the latest look
  int periods_ = 0;             // that nothing else has happened
  std::atomic<std::uint64_t> interruptions_{0};
  alignas(kCacheLine) std::atomic<std::uint64_t> due_{0};  // ticks
  std::atomic<bool> busy_{false};                          // acquire, release: guards what a look writes
};

}  // namespace tmpi::sched
