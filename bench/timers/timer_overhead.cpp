// The cost of the hooks of src/timers/point_of_view.hpp, call by call, as in Figures 3 and 4 of Nigay et al.;
// and of a whole switch with and without them.
//
//     bench_timer_overhead [CALLS]
//
// Prints "tick NS", then "sample WHAT TICKS COUNT" lines: how many calls of WHAT took TICKS. "clock" is the
// measurement itself, around nothing: it is contained in all others. WHAT ends in "+clock" where the hook
// reads the clock itself, as in the paper; at tmpi's switches the clock is read once for the task that is
// left and the one that comes. Then "switch HOW NS" lines, medians.
#include <fmt/format.h>
#include <x86intrin.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sched/metering.hpp"
#include "timers/clock.hpp"
#include "timers/meter.hpp"

namespace {

namespace sched = tmpi::sched;
namespace timers = tmpi::timers;

// The usual fences: what is measured neither begins before the first time stamp nor ends after the second.
inline std::uint64_t begin() {
  _mm_lfence();
  const std::uint64_t now = __rdtsc();
  _mm_lfence();
  return now;
}
inline std::uint64_t end() {
  unsigned processor = 0;
  const std::uint64_t now = __rdtscp(&processor);
  _mm_lfence();
  return now;
}

/// Calls `hook` once per sample, `between` in between, unmeasured.
template <class Hook, class Between>
void measure(const char* what, long calls, Hook&& hook, Between&& between) {
  std::vector<std::uint64_t> ticks(static_cast<std::size_t>(calls));
  for (std::uint64_t& sample : ticks) {
    const std::uint64_t start = begin();
    hook();
    sample = end() - start;
    between();
  }
  std::map<std::uint64_t, long> counts;
  for (const std::uint64_t sample : ticks) ++counts[sample];
  for (const auto& [value, count] : counts) fmt::print("sample {} {} {}\n", what, value, count);
}

/// Keeps the compiler from knowing what a meter holds, as at a switch, where it is another task's each time.
template <class T>
void opaque(T& object) {
  __asm__ volatile("" : : "r"(&object) : "memory");
}

void measure_hooks(long calls) {
  timers::ProcessClock clock;
  timers::SectionMark mark;
  timers::ProcessorClock core;
  std::uint64_t shared = timers::now_ticks();
  const auto now = [] { return timers::now_ticks(); };
  const auto fence = [&] {
    opaque(clock);
    opaque(mark);
    opaque(core);
    opaque(shared);
  };
  clock.start(now());
  core.start(mark, now());
  measure(
      "clock", calls, [] {}, fence);
  measure(
      "now_ticks", calls, [&] { shared = now(); }, fence);
  measure(
      "process-suspend", calls, [&] { clock.suspend(shared); },
      [&] { fence(), clock.resume(shared), fence(); });
  measure(
      "process-resume", calls, [&] { clock.resume(shared); },
      [&] { fence(), clock.suspend(shared), fence(); });
  measure(
      "core-suspend", calls, [&] { core.suspend(mark, shared); }, fence);
  measure(
      "core-resume", calls, [&] { core.resume(mark, shared); }, fence);
  clock.resume(now());
  measure(
      "process-suspend+clock", calls, [&] { clock.suspend(now()); },
      [&] { fence(), clock.resume(now()), fence(); });
  measure(
      "process-resume+clock", calls, [&] { clock.resume(now()); },
      [&] { fence(), clock.suspend(now()), fence(); });
  measure(
      "core-suspend+clock", calls, [&] { core.suspend(mark, now()); }, fence);
  measure(
      "core-resume+clock", calls, [&] { core.resume(mark, now()); }, fence);
}

/// ns per switch between two tasks that yield to each other: the median of many rounds.
double switch_cost(bool metered, bool in_section, const char* counter) {
  constexpr int kRounds = 201, kYields = 2000;
  static std::vector<double> results;
  static bool stop, section;
  static int event;
  results.clear();
  stop = false;
  section = in_section;
  event = counter == nullptr ? -1 : timers::find_event(counter);
  auto scheduler = sched::Scheduler::create({.workers = 1, .tasks = 2, .stack_size = 256 * 1024});
  if (!scheduler) std::exit(1);
  if (metered) (*scheduler)->meter_switches();
  static const auto prepare = [] {
    timers::ProcessMeter& meter = sched::current()->meter;
    if (section) timers::ProcessorClock::start(meter.section, timers::now_ticks());
    if (event >= 0) {
      meter.counters = new timers::CounterTotals;
      if (!sched::core_meter().counters.acquire(event, *meter.counters, section)) std::exit(1);
    }
  };
  const auto other = [](void*) {
    prepare();
    while (!stop) sched::yield();
  };
  const auto timed = [](void*) {
    prepare();
    for (int round = 0; round < kRounds; ++round) {
      const std::uint64_t start = timers::now_ticks();
      for (int i = 0; i < kYields; ++i) sched::yield();
      results.push_back(timers::seconds(timers::now_ticks() - start) * 1e9 / (2.0 * kYields));
    }
    stop = true;
  };
  (*scheduler)->spawn(0, timed, nullptr, nullptr);
  (*scheduler)->spawn(0, other, nullptr, nullptr);
  (*scheduler)->run();
  std::ranges::sort(results);
  return results[results.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const long calls = argc > 1 ? std::atol(argv[1]) : 100'000;
  timers::calibrate();
  fmt::print("tick {:.9f}\n", timers::seconds(1'000'000'000));
  measure_hooks(1000);  // warm-up, printed before the mark
  fmt::print("begin\n");
  measure_hooks(calls);
  fmt::print("switch unmetered {:.2f}\n", switch_cost(false, false, nullptr));
  fmt::print("switch metered {:.2f}\n", switch_cost(true, false, nullptr));
  fmt::print("switch in-section {:.2f}\n", switch_cost(true, true, nullptr));
  fmt::print("switch counter {:.2f}\n", switch_cost(true, false, "page-faults"));
}
