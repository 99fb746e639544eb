#include "sched/metering.hpp"

#include <unistd.h>

#include <atomic>
#include <vector>

#include "sched/test_support.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {
namespace {

using test::Event;
using test::Job;

/// Computes; returns the time that passed, or a bit less.
double compute(double seconds) {
  const double start = timers::wtime();
  double now = start;
  while (now - start < seconds) now = timers::wtime();
  return now - start;
}

constexpr double kRounding = 1e-8;  // time stamps are converted to double one by one

double ran(Task& task) {
  return timers::seconds(task.meter.clock.read(timers::now_ticks()));
}

TEST_CASE("without metering no clock of a task runs") {
  Job job({.tasks = 2, .stack_size = 64 * 1024, .bind = false});
  for (int i = 0; i < 2; ++i) {
    job.spawn(0, [] {
      yield();
      CHECK_FALSE(current()->meter.clock.running());
    });
  }
  CHECK_FALSE(switches_metered());
  job.run();
}

TEST_CASE("a task's clock excludes the time of the others") {
  Job job({.tasks = 2, .stack_size = 64 * 1024, .bind = false});
  job->meter_switches();
  double process = 0, wall = 0, own = 0, other = 0;
  job.spawn(0, [&] {
    const double start = timers::wtime(), before = ran(*current());
    own = compute(0.002);
    yield();  // the other one computes
    process = ran(*current()) - before;
    wall = timers::wtime() - start;
  });
  job.spawn(0, [&] { other = compute(0.02); });
  job.run();
  CHECK(process >= own);
  CHECK(process <= wall - other + kRounding);
}

TEST_CASE("metering that is switched on late counts from then on") {
  Job job({.workers = 2, .tasks = 2, .stack_size = 64 * 1024, .bind = false});
  std::atomic<int> met{0};
  for (int worker = 0; worker < 2; ++worker) {
    job.spawn(worker, [&met, worker] {
      if (worker == 0) scheduler()->meter_switches();
      const double before = ran(*current());
      compute(0.001);
      yield();
      const double after = ran(*current());
      if (after - before >= 0.001 && after - before < 60) ++met;
    });
  }
  job.run();
  CHECK(met == 2);
}

TEST_CASE("the section of a core: tasks in it, whoever they are, and nothing else") {
  Job job({.tasks = 3, .stack_size = 64 * 1024, .bind = false});
  job->meter_switches();
  double section = 0, inside = 0, outside = 0;
  const double start = timers::wtime();
  for (int i = 0; i < 2; ++i) {
    job.spawn(0, [&] {
      timers::ProcessorClock::start(current()->meter.section, timers::now_ticks());
      inside += compute(0.002);
      yield();
      inside += compute(0.002);
      core_meter().clock.stop(current()->meter.section, timers::now_ticks());
      outside += compute(0.002);
    });
  }
  job.spawn(0, [&] {
    outside += compute(0.005);
    yield();
    yield();
    section = timers::seconds(core_meter().clock.read(current()->meter.section, timers::now_ticks()));
  });
  job.run();
  CHECK(section >= inside - kRounding);
  CHECK(section <= timers::wtime() - start - outside + kRounding);
}

struct Seen {
  Task *from, *to;
  std::uint64_t ticks;
};
std::vector<Seen> g_seen;
std::atomic<std::size_t> g_seen_count{0};  // for other workers

TEST_CASE("observers see every switch with its time, idle workers as null") {
  g_seen.clear();
  g_seen_count = 0;
  Event event;
  {
    Job job({.workers = 2, .tasks = 2, .stack_size = 64 * 1024, .bind = false});
    job->observe_switches([](Task* from, Task* to, std::uint64_t ticks) noexcept {
      if (current_worker() != 0 || g_seen.size() == 1000) return;
      g_seen.push_back({from, to, ticks});
      ++g_seen_count;
    });
    CHECK(switches_metered());
    static int plain;
    plain = 0;
    job->set_switch_hook([](Task*, Task*) noexcept {
      if (current_worker() == 0) ++plain;
    });
    g_seen.reserve(1000);
    Task& waiting = job.spawn(0, [&] { event.wait(); });
    job.spawn(1, [&] {
      while (g_seen_count < 2) usleep(100);  // until the other one waits
      usleep(20'000);
      event.complete();
    });
    job.run();
    REQUIRE(g_seen.size() == 4);  // begins, waits: idle, goes on, ends: idle
    CHECK(plain == 4);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK((g_seen[i].from == nullptr) == (i % 2 == 0));
      CHECK((g_seen[i].from == nullptr ? g_seen[i].to : g_seen[i].from) == &waiting);
    }
    CHECK(timers::seconds(g_seen[2].ticks - g_seen[1].ticks) > 0.01);
  }
  CHECK_FALSE(switches_metered());
}

}  // namespace
}  // namespace tmpi::sched
