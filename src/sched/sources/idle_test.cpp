// A blocked job uses no CPU: a claim about time, of the suite "timing".
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "sched/test_support.hpp"

namespace tmpi::sched {
namespace {

using test::Event;
using test::Job;

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// CPU time of a job of 64 tasks that stay blocked for a second, as a share of one core.
double cost_of_blocking(int workers, bool network) {
  Job job({.workers = workers, .tasks = 64, .stack_size = 64 * 1024, .bind = false});
  if (network)
    job->set_event_source(
        {.poll = []() noexcept { return false; }, .arm = [](bool) noexcept { return Arming{}; }});
  std::vector<Event> events(64);
  for (int i = 0; i < 64; ++i) {
    job.spawn(i % workers, [&, i] { events[static_cast<std::size_t>(i)].wait(); });
  }
  double used = 0;
  std::thread control([&] {
    usleep(200'000);  // until all are blocked
    const double before = cpu_seconds();
    usleep(1'000'000);
    used = cpu_seconds() - before;
    for (Event& event : events) event.complete();
  });
  job.run();
  control.join();
  return used;
}

/// The least of a few attempts: on a busy machine not all may be blocked when the measurement begins.
double least_cost(int workers, bool network) {
  double least = 1;
  for (int attempt = 0; attempt < 5 && least >= 0.01; ++attempt)
    least = std::min(least, cost_of_blocking(workers, network));
  return least;
}

TEST_CASE("64 blocked tasks take less than 1 % of a core" * doctest::test_suite("timing")) {
  CHECK(least_cost(1, false) < 0.01);
  CHECK(least_cost(2, false) < 0.01);
  CHECK(least_cost(8, false) < 0.01);
  CHECK(least_cost(2, true) < 0.01);
}

}  // namespace
}  // namespace tmpi::sched
