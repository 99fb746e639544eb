// Tasks that do nothing but poll are noticed; tasks that do anything else are not.
#include <doctest/doctest.h>

#include <atomic>

#include "sched/test_support.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {
namespace {

using test::Job;

std::atomic<int> most_periods{-1};

bool note_periods(int periods) noexcept {
  most_periods.store(periods);
  return true;
}

constexpr double kPeriod = 0.2;      // s
constexpr double kTooLong = 20;      // s
constexpr double kLongEnough = 0.5;  // s, in which tasks that only poll would have been noticed

/// What the hook has been told when two tasks have polled for `seconds`, or less if it has been told enough before,
/// with `between` after every poll.
template <class Between>
int told(int workers, double seconds, Between&& between) {
  most_periods.store(-1);
  Job job({.workers = workers, .tasks = 2, .stack_size = 64 * 1024, .bind = false});
  job->set_poll_hook(&note_periods, kPeriod);
  const std::uint64_t end = timers::now_ticks() + timers::ticks(seconds);
  for (int i = 0; i < 2; ++i) {
    job.spawn(i % workers, [&] {
      while (timers::now_ticks() < end && most_periods.load() < 1) {
        for (int poll = 0; poll < 200; ++poll) yield_polling();
        between();
      }
    });
  }
  job.run();
  return most_periods.load();
}

// Not under sanitizers: an instrumented loop is no tight one, so it is never noticed.

TEST_CASE("polls in vain are noticed" * doctest::skip(test::kSanitized)) {
  for (const int workers : {1, 2}) CHECK(told(workers, kTooLong, [] {}) >= 1);
}

TEST_CASE("polls between which something else is switched to are not" * doctest::skip(test::kSanitized)) {
  CHECK(told(1, kLongEnough, [] { yield(); }) == -1);
}

TEST_CASE("polls with work in between are not" * doctest::skip(test::kSanitized)) {
  most_periods.store(-1);
  Job job({.workers = 1, .tasks = 1, .stack_size = 64 * 1024, .bind = false});
  job->set_poll_hook(&note_periods, kPeriod);
  const std::uint64_t end = timers::now_ticks() + timers::ticks(kLongEnough);
  job.spawn(0, [&] {
    while (timers::now_ticks() < end) {
      yield_polling();
      for (const std::uint64_t until = timers::now_ticks() + timers::ticks(1e-6);
           timers::now_ticks() < until;) {
      }
    }
  });
  job.run();
  CHECK(most_periods.load() == -1);
}

}  // namespace
}  // namespace tmpi::sched
