// Everything that is measured of a process and of a core between two switches: clocks and performance
// counters, each from both points of view. sched keeps one ProcessMeter per task and one CoreMeter per worker
// and calls suspend() and resume() at every switch, on the worker's thread. Neither suspends the caller.
#pragma once

#include <cstdint>

#include "timers/counter_bank.hpp"
#include "timers/point_of_view.hpp"

namespace tmpi::timers {

struct ProcessMeter {
  ProcessClock clock;
  SectionMark section;
  CounterTotals* counters = nullptr;  ///< of a process that has opened one; owned by whoever opened it
};

struct CoreMeter {
  ProcessorClock clock;
  CounterBank counters;
};

/// The process leaves the core.
inline void suspend(ProcessMeter& process, CoreMeter& core, std::uint64_t now) noexcept {
  process.clock.suspend(now);
  if (process.section.active()) [[unlikely]]
    core.clock.suspend(process.section, now);
  if (process.counters != nullptr || core.counters.any_open()) [[unlikely]]
    core.counters.suspend(process.counters, process.section.active(), now);
}

/// The process comes to the core.
inline void resume(ProcessMeter& process, CoreMeter& core, std::uint64_t now) noexcept {
  process.clock.resume(now);
  ProcessorClock::resume(process.section, now);
  if (process.counters != nullptr || core.counters.any_open()) [[unlikely]]
    core.counters.resume(process.counters, process.section.active(), now);
}

}  // namespace tmpi::timers
