#include "sched/metering.hpp"

#include "sched/loop/run_loop.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {
namespace {

constexpr int kMostObservers = 4;

// From the first to the first null. release, acquire: what an observer needs has been set up.
std::atomic<SwitchObserver> g_observers[kMostObservers + 1];
SwitchHook
    g_plain;  // written before the hook is installed by a release store, read by the hook (Worker::report)

// On the stack of the side that is left. One of the two is there.
void metered_switch(Task* from, Task* to) noexcept {
  const std::uint64_t now = timers::now_ticks();
  timers::CoreMeter& core = (from != nullptr ? from : to)->worker->meter();
  if (from != nullptr) timers::suspend(from->meter, core, now);
  if (to != nullptr) timers::resume(to->meter, core, now);
  for (const auto* place = g_observers;; ++place) {
    const SwitchObserver observer = place->load(std::memory_order_acquire);
    if (observer == nullptr) break;
    observer(from, to, now);
  }
  if (g_plain != nullptr) g_plain(from, to);
}

}  // namespace

std::atomic<bool> detail::g_metered{false};

void ensure_metering() noexcept {
  if (!switches_metered()) scheduler()->meter_switches();
}

timers::CoreMeter& core_meter() noexcept {
  return this_loop()->meter();
}

namespace metering {

SwitchHook put_before(SwitchHook plain) noexcept {
  g_plain = plain;
  return switches_metered() ? &metered_switch : plain;
}

SwitchHook switch_on() noexcept {
  detail::g_metered.store(true, std::memory_order_relaxed);
  return &metered_switch;
}

bool add(SwitchObserver observer) noexcept {
  for (int i = 0; i < kMostObservers; ++i) {
    SwitchObserver none = nullptr;
    if (g_observers[i].compare_exchange_strong(none, observer, std::memory_order_acq_rel)) return true;
  }
  return false;
}

void reset() noexcept {
  for (auto& observer : g_observers) observer.store(nullptr, std::memory_order_relaxed);
  g_plain = nullptr;
  detail::g_metered.store(false, std::memory_order_relaxed);
}

}  // namespace metering
}  // namespace tmpi::sched
