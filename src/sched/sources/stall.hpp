// StallWatch: how a worker's own thread sleeps, and what the last one to fall asleep looks for (StallHook in
// hooks.hpp). Shared by the workers of a process.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/platform.hpp"
#include "sched/hooks.hpp"
#include "sched/loop/run_loop.hpp"

namespace tmpi::sched {

class StallWatch {
 public:
  using Loops = std::vector<RunLoop*>;

  explicit StallWatch(const Loops& workers) noexcept : workers_(workers) {}

  /// Before the workers run.
  void set(StallHook hook) noexcept { hook_ = hook; }

  /// Parking::wait() of one of the workers' own threads; calls the hook if it is the last to fall asleep and
  /// nothing happens for kStallPeriod. `nanoseconds` other than 0: a task of the worker waits for its time,
  /// which comes at the latest then, so that this is no stall. Blocks the thread.
  [[nodiscard]] bool sleep(Parking& parking, std::uint32_t epoch, std::uint64_t nanoseconds) noexcept;

  /// All workers' own threads sleep. Any thread.
  bool all_asleep() const noexcept;
  /// Nothing has happened for kStallPeriod, as far as the caller knows: calls the hook if all workers sleep and
  /// nothing has been left for them. Any thread that is no worker.
  void check() noexcept;

 private:
  bool sleep_last(Parking& parking, std::uint32_t epoch) noexcept;
  std::uint64_t switches() const noexcept;

  const Loops& workers_;
  StallHook hook_ = nullptr;
  // Workers whose own thread sleeps. acq_rel, and acquire for loads: the last one sees what all tasks have
  // done.
  alignas(kCacheLine) std::atomic<int> asleep_{0};
};

}  // namespace tmpi::sched
