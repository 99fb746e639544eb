#include "sched/metering.hpp"

#include <atomic>

#include "sched/worker.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {
namespace {

constexpr int kMostObservers = 4;

// Written before the hook is installed by a release store, read by the hook (Worker::report);
// null-terminated.
SwitchObserver g_observers[kMostObservers + 1];
SwitchHook g_plain;
std::atomic<bool> g_on{false};  // relaxed: the hooks' own stores publish what they need

// On the stack of the side that is left. One of the two is there.
void metered_switch(Task* from, Task* to) noexcept {
  const std::uint64_t now = timers::now_ticks();
  timers::CoreMeter& core = (from != nullptr ? from : to)->worker->meter();
  if (from != nullptr) timers::suspend(from->meter, core, now);
  if (to != nullptr) timers::resume(to->meter, core, now);
  for (const SwitchObserver* observer = g_observers; *observer != nullptr; ++observer)
    (*observer)(from, to, now);
  if (g_plain != nullptr) g_plain(from, to);
}

}  // namespace

bool switches_metered() noexcept {
  return metering::on();
}

void ensure_metering() noexcept {
  if (!metering::on()) scheduler()->meter_switches();
}

timers::CoreMeter& core_meter() noexcept {
  return this_worker()->meter();
}

namespace metering {

bool on() noexcept {
  return g_on.load(std::memory_order_relaxed);
}

SwitchHook put_before(SwitchHook plain) noexcept {
  g_plain = plain;
  return on() ? &metered_switch : plain;
}

SwitchHook switch_on() noexcept {
  g_on.store(true, std::memory_order_relaxed);
  return &metered_switch;
}

bool add(SwitchObserver observer) noexcept {
  for (int i = 0; i < kMostObservers; ++i) {
    if (g_observers[i] != nullptr) continue;
    g_observers[i] = observer;
    return true;
  }
  return false;
}

void reset() noexcept {
  for (SwitchObserver& observer : g_observers) observer = nullptr;
  g_plain = nullptr;
  g_on.store(false, std::memory_order_relaxed);
}

}  // namespace metering
}  // namespace tmpi::sched
