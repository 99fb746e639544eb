// Sleeping tasks as a source of their worker: they are ready when their time has come.
#pragma once

#include <cstdint>

#include "sched/loop/run_loop.hpp"
#include "sched/sleep.hpp"
#include "sched/sources/sleepers.hpp"
#include "sched/sources/source.hpp"

namespace tmpi::sched {

class SleepSource final : public Source {
 public:
  explicit SleepSource(RunLoop& loop) noexcept : Source(Reasons::kSleeps, Cost::kMore), loop_(loop) {}

  void add(Sleeper& sleeper) noexcept TMPI_REQUIRES(inside_worker) {
    sleepers_.add(sleeper);
    loop_.reasons().give(Reasons::kSleeps);
  }
  void remove(Sleeper& sleeper) noexcept TMPI_REQUIRES(inside_worker) {
    sleepers_.remove(sleeper);
    if (sleepers_.empty()) loop_.reasons().end(Reasons::kSleeps);
  }
  bool look() noexcept override TMPI_REQUIRES(inside_worker) {
    const std::uint64_t now = monotonic_now();
    while (Sleeper* sleeper = sleepers_.due(now)) loop_.make_ready_here(*sleeper->task);
    if (sleepers_.empty()) loop_.reasons().end(Reasons::kSleeps);
    return false;
  }
  /// The first deadline, ns of CLOCK_MONOTONIC; 0: nobody sleeps. Any thread.
  std::uint64_t earliest() const noexcept { return sleepers_.earliest(); }

 private:
  RunLoop& loop_;
  Sleepers sleepers_;
};

}  // namespace tmpi::sched
