#include "sched/sources/stall.hpp"

#include <algorithm>
#include <ranges>

#include "sched/offload.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {

bool StallWatch::sleep(Parking& parking, std::uint32_t epoch, std::uint64_t nanoseconds) noexcept {
  if (hook_ == nullptr || nanoseconds != 0) return parking.wait(epoch, nanoseconds);
  const bool last = asleep_.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<int>(workers_.size());
  const bool watched = last ? sleep_last(parking, epoch) : parking.wait(epoch);
  asleep_.fetch_sub(1, std::memory_order_acq_rel);
  return watched;
}

// Who wakes another worker finds it parked and leaves a node in its inbox. So there is a stall if all sleep,
// all inboxes are empty, and none has been awake while that was looked at. If it is none, somebody is awake
// and will look when it falls asleep last. What a thread of the pool does for a task (offload.hpp) will wake
// somebody; that is looked at first, since it wakes before it is done.
bool StallWatch::sleep_last(Parking& parking, std::uint32_t epoch) noexcept {
  const std::uint64_t start = timers::now_ticks();
  const bool watched = parking.wait(epoch, kStallPeriod);
  const bool early =
      timers::seconds(timers::now_ticks() - start) < 0.9e-9 * static_cast<double>(kStallPeriod);
  if (early || parking.epoch() != epoch) return watched;
  check();
  return parking.wait(epoch) || watched;
}

void StallWatch::check() noexcept {
  if (hook_ == nullptr) return;
  const std::uint64_t before = switches();
  if (offloaded() == 0 && all_asleep() &&
      std::ranges::all_of(workers_, [](const auto& w) { return w->parking().empty(); }) &&
      switches() == before && all_asleep()) {
    hook_();
  }
}

std::uint64_t StallWatch::switches() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& worker : workers_) sum += worker->switches();
  return sum;
}

bool StallWatch::all_asleep() const noexcept {
  return asleep_.load(std::memory_order_acquire) == static_cast<int>(workers_.size());
}

}  // namespace tmpi::sched
