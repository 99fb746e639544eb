// How a worker sleeps, and what the last one to fall asleep looks for (StallHook in scheduler.hpp).
#include <algorithm>
#include <ranges>

#include "sched/worker.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {

// True if it has watched the event source.
bool Worker::sleep_watching(std::uint32_t rung, std::uint64_t nanoseconds) noexcept {
  if (shared_.events.sleep(inbox_, rung, nanoseconds)) return true;
  inbox_.sleep(rung, nanoseconds);
  return false;
}

// Who has watched the event source goes to work: another one that sleeps has to take its place, else what
// arrives would wait until this one looks again. Who is woken for nothing polls, and falls asleep watching.
void Worker::hand_watch_over() noexcept {
  if (!watched_) return;
  watched_ = false;
  // At this inbox there may sleep its own thread, if a rank's thread has watched, and the other way round.
  if (idle_ || (keeper_ != nullptr && keeper_->bed == ThreadTask::Bed::kInbox)) return inbox_.ring();
  const auto sleeper = std::ranges::find_if(shared_.workers, [this](const auto& worker) {
    return worker.get() != this && worker->inbox_.asleep();
  });
  if (sleeper != shared_.workers.end()) (*sleeper)->poke();
}

bool Worker::sleep(std::uint32_t rung) noexcept {
  if (shared_.stall_hook == nullptr) return sleep_watching(rung, 0);
  bool watched = false;
  // acq_rel: the last one sees what all tasks have done.
  if (shared_.asleep.fetch_add(1, std::memory_order_acq_rel) + 1 ==
      static_cast<int>(shared_.workers.size())) {
    watched = watch_for_stall(rung);
  } else {
    watched = sleep_watching(rung, 0);
  }
  shared_.asleep.fetch_sub(1, std::memory_order_acq_rel);
  return watched;
}

// Who wakes another worker finds it asleep and leaves mail. So there is a stall if all sleep, none has mail,
// and none has been awake while that was looked at. If it is none, somebody is awake and will watch when it
// falls asleep last.
bool Worker::watch_for_stall(std::uint32_t rung) noexcept {
  const std::uint64_t start = timers::now_ticks();
  const bool watched = sleep_watching(rung, kStallPeriod);
  const auto switches = [this] {
    std::uint64_t sum = 0;
    for (const auto& worker : shared_.workers) sum += worker->switches();
    return sum;
  };
  const auto all_asleep = [this] {
    return shared_.asleep.load(std::memory_order_acquire) == static_cast<int>(shared_.workers.size());
  };
  const bool early =
      timers::seconds(timers::now_ticks() - start) < 0.9e-9 * static_cast<double>(kStallPeriod);
  if (early || inbox_.bell() != rung) return watched;
  const std::uint64_t before = switches();
  if (all_asleep() &&
      std::ranges::none_of(shared_.workers, [](const auto& w) { return w->inbox_.has_mail(); }) &&
      switches() == before && all_asleep()) {
    shared_.stall_hook();
  }
  return sleep_watching(rung, 0) || watched;
}

}  // namespace tmpi::sched
