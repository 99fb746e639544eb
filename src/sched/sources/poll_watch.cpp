#include "sched/sources/poll_watch.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "sched/loop/run_loop.hpp"
#include "sched/offload.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {
namespace {

// Ticks.
std::uint64_t cheapest_system_call() noexcept {
  std::uint64_t least = UINT64_MAX;
  for (int i = 0; i < 16; ++i) {
    const std::uint64_t before = timers::now_ticks();
    ::getppid();
    least = std::min(least, timers::now_ticks() - before);
  }
  return least;
}

}  // namespace

void PollWatch::set(PollHook hook, double period, const Scheduler& scheduler, int tasks) {
  seen_.reserve(static_cast<std::size_t>(tasks));
  scheduler_ = &scheduler;
  away_ticks_ = std::max(timers::ticks(kAway), cheapest_system_call() / 2);
  period_ticks_ = timers::ticks(period);
  fewest_ = static_cast<std::uint32_t>(kFewest * period);
  hook_ = hook;
}

void PollWatch::go(PollCount& polls) noexcept {
  if (polls.number.load(std::memory_order_relaxed) % kMeasured == 0) polls.left = timers::now_ticks();
}

void PollWatch::measure(PollCount& polls) const noexcept {
  const bool tight = polls.left != 0 && timers::now_ticks() - polls.left <= away_ticks_;
  if (!tight) polls.away.store(polls.away.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void PollWatch::look() noexcept {
  const std::uint64_t now = timers::now_ticks();
  if (now < due_.load(std::memory_order_relaxed) || busy_.exchange(true, std::memory_order_acquire)) return;
  if (now >= due_.load(std::memory_order_relaxed)) {
    if (all_poll_or_wait() && offloaded() == 0 && hook_(periods_)) {
      ++periods_;
    } else {
      periods_ = 0;
      interruptions_.fetch_add(1, std::memory_order_relaxed);
    }
    due_.store(timers::now_ticks() + period_ticks_, std::memory_order_relaxed);
  }
  busy_.store(false, std::memory_order_release);
}

// All since the latest look; that, too, is looked at to the end, for the next one.
bool PollWatch::all_poll_or_wait() noexcept {
  std::uint64_t activity = 0;
  for (const auto& worker : workers_) activity += worker->activity();
  bool all = activity == activity_;
  activity_ = activity;
  const int tasks = scheduler_->tasks();
  if (seen_.size() < static_cast<std::size_t>(tasks))
    seen_.resize(static_cast<std::size_t>(tasks));  // reserved
  for (int i = 0; i < tasks; ++i) {
    const Task& task = scheduler_->task(i);
    Seen& seen = seen_[static_cast<std::size_t>(i)];
    const Seen now{task.polls.number.load(std::memory_order_relaxed),
                   task.polls.away.load(std::memory_order_relaxed)};
    const std::uint32_t polls = now.number - seen.number;
    const std::uint32_t away = now.away - seen.away;
    seen = now;
    const TaskState state = task.state.load(std::memory_order_relaxed);
    if (state == TaskState::kFinished || state == TaskState::kBlocked) continue;
    all = all && polls >= fewest_ && away <= polls / kMeasured / 4;
  }
  return all;
}

}  // namespace tmpi::sched
