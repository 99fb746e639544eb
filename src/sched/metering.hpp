// Metering: what every switch does once somebody wants to know how long tasks run. A job in which nobody asks
// switches by the plain hook alone and reads no clock; metering puts itself before that hook. It reads the
// clock once per switch and hands that time to the meter of the task that is left, to that of the task that
// comes, and to the observers (Scheduler::observe_switches).
//
// A task's meter (Task::meter) belongs to the thread that runs the task, a worker's to that worker. Tasks
// that serve a rank beside its own (helpers of the library) have meters of their own: their time is not the
// rank's.
#pragma once

#include <atomic>

#include "sched/scheduler.hpp"
#include "timers/meter.hpp"

namespace tmpi::sched {

namespace detail {
extern std::atomic<bool> g_metered;
}

/// True if switches are metered: from the start, or since Scheduler::meter_switches(). Any thread.
inline bool switches_metered() noexcept {
  // Relaxed: the hooks' own stores publish what they need.
  return detail::g_metered.load(std::memory_order_relaxed);
}

/// Meters switches of the process's scheduler from now on if they are not yet. Any thread.
void ensure_metering() noexcept;

/// The meter of the worker that runs the calling task. Not on other threads; never kept across a scheduling
/// point.
timers::CoreMeter& core_meter() noexcept;

// For the scheduler itself, which installs the hook on its workers. One job at a time.
namespace metering {

/// The hook to install so that `plain` is called at every switch: itself, or the metering one before it.
SwitchHook put_before(SwitchHook plain) noexcept;
/// The hook to install from now on.
SwitchHook switch_on() noexcept;
/// False if there is no room.
bool add(SwitchObserver observer) noexcept;
/// The scheduler is gone.
void reset() noexcept;

}  // namespace metering
}  // namespace tmpi::sched
