// Sleep: a task waits for a time, and is interrupted while it waits. docs/design/scheduling.md.
#pragma once

#include <cstdint>

namespace tmpi::sched {

struct Task;
class RunLoop;

/// No deadline: until interrupted.
inline constexpr std::uint64_t kForever = UINT64_MAX;

/// CLOCK_MONOTONIC in ns, by which all deadlines here are measured.
std::uint64_t monotonic_now() noexcept;

/// Suspends the calling task until monotonic_now() has reached `deadline`, never less. False: interrupt() has
/// ended it before, and the interrupt hook has not been called: what is to be done the caller does. Of a task on its worker's own thread, inside (thread_task.hpp). SUSPENDS.
bool sleep_until(std::uint64_t deadline) noexcept;

namespace detail {
bool hold_until(std::uint64_t deadline, bool (*interrupted)(const void*), const void* argument) noexcept;
}

/// The same, but the worker sleeps with the task, and nothing else runs on it. False: a signal handler has run
/// on the thread, or interrupted() says so: it is asked now and then. Handlers run in user code, and may leave by
/// longjmp. How long ready tasks have waited meanwhile is added to held(). In user code, not inside. Does not
/// suspend: blocks the thread.
template <class Interrupted>
bool hold_until(std::uint64_t deadline, const Interrupted& interrupted) noexcept {
  return detail::hold_until(
      deadline, [](const void* argument) -> bool { return (*static_cast<const Interrupted*>(argument))(); },
      &interrupted);
}
inline bool hold_until(std::uint64_t deadline) noexcept {
  return hold_until(deadline, [] { return false; });
}

/// yield() of the calling task, inside. False: nobody else was ready. SUSPENDS.
bool yield_to_others() noexcept;

/// What has run on the calling task's worker so far: as long as it does not change the task has not left its core.
struct Turn {
  const RunLoop* worker = nullptr;
  std::uint64_t switches = 0;
  bool operator==(const Turn&) const noexcept = default;
};
Turn turn_of_current() noexcept;
/// ns for which ready tasks have waited so far for one that holds the calling task's worker (hold_until()).
std::uint64_t held_by_current_worker() noexcept;

/// There are other tasks on the calling task's worker that have not finished. Any task.
bool has_company() noexcept;

/// Has the interrupt hook (Scheduler::set_interrupt_hook) called on the task's own flow of control: if it is
/// suspended, as soon as its worker comes to a scheduling point, and it goes on waiting afterwards, unless it
/// waits in sleep_until(); if it runs, or is ready to, when it has been suspended the next time. Any thread,
/// also in a signal handler; does not suspend. A finished task: nothing happens.
void interrupt(Task& task) noexcept;

/// Kernel's number (gettid) of the thread that runs the task's worker; 0 before it runs.
int thread_of(const Task& task) noexcept;

}  // namespace tmpi::sched
