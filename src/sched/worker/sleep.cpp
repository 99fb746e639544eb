#include "sched/sleep.hpp"

#include <time.h>

#include <algorithm>
#include <cerrno>

#include "base/no_signals.hpp"
#include "sched/thread_task.hpp"
#include "sched/worker/worker.hpp"

namespace tmpi::sched {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
// How often a long sleep looks whether somebody waits for it to end.
constexpr std::uint64_t kShortestSlice = 20'000'000;  // ns
constexpr std::uint64_t kSlices = 16;

timespec timespec_of(std::uint64_t nanoseconds) noexcept {
  return {static_cast<time_t>(nanoseconds / kSecond), static_cast<long>(nanoseconds % kSecond)};
}

}  // namespace

std::uint64_t monotonic_now() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * kSecond + static_cast<std::uint64_t>(now.tv_nsec);
}

bool sleep_until(std::uint64_t deadline) noexcept {
  Task& self = *current();
  inside_worker.assume();
  return worker_of(self)->sleep_until(self, deadline);
}

bool detail::hold_until(std::uint64_t deadline, bool (*interrupted)(const void*),
                        const void* argument) noexcept {
  Task& self = *current();
  Worker& worker = *worker_of(self);
  bool somebody_waits = false;
  for (std::uint64_t now = monotonic_now(); now < deadline;) {
    if (!somebody_waits) {
      const NoSignals no_signals;  // nor a handler that leaves by longjmp in the middle of this
      const Inside inside(&self);
      inside_worker.assume();
      somebody_waits = worker.anyone_ready();
    }
    // Also what has come since.
    if (interrupted(argument)) return false;
    const std::uint64_t slice = std::max(kShortestSlice, (deadline - now) / kSlices);
    const timespec until = timespec_of(std::min(deadline - now, slice) + now);
    const int error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
    const std::uint64_t woken = monotonic_now();
    if (somebody_waits) worker.add_held(woken - now);
    if (error == EINTR) return false;
    now = woken;
  }
  return true;
}

bool yield_to_others() noexcept {
  const Turn before = turn_of_current();
  yield();
  return turn_of_current() != before;
}

Turn turn_of_current() noexcept {
  const RunLoop* const worker = current()->worker;
  return {worker, worker->switches()};
}

std::uint64_t held_by_current_worker() noexcept {
  return worker_of(*current())->held();
}

bool has_company() noexcept {
  const Task* self = current();
  return self != nullptr && self->worker->has_company();
}

void interrupt(Task& task) noexcept {
  if (Worker* const worker = worker_of(task)) worker->idling().interrupts().interrupt(task);
}

int thread_of(const Task& task) noexcept {
  return task.worker == nullptr ? 0 : task.worker->thread();
}

}  // namespace tmpi::sched
