#include "sched/offload.hpp"

#include <unistd.h>

#include <atomic>
#include <thread>

#include "sched/task.hpp"
#include "sched/test_support.hpp"

namespace tmpi::sched {
namespace {

using test::Job;

TEST_CASE("an offloaded call runs elsewhere, and the worker's other tasks run meanwhile") {
  Job job({.workers = 1, .tasks = 2, .stack_size = 64 * 1024, .bind = false});
  std::atomic<bool> other_has_run{false};
  bool seen = false;
  std::thread::id where;
  job.spawn(0, [&] {
    offload([&] {
      where = std::this_thread::get_id();
      while (!other_has_run) usleep(100);
      seen = true;
    });
    CHECK(seen);
    CHECK(where != std::this_thread::get_id());
  });
  job.spawn(0, [&] {
    CHECK(offloaded() == 1);
    other_has_run = true;
  });
  job.run();
  CHECK(await_offloaded());  // a call is counted as over when its task has been woken
}

// Each waits for the one before: all have to be under way at a time, as far as the pool has threads; the rest in turn.
TEST_CASE("as many calls as there are threads at a time, the others in their order") {
  constexpr int kTasks = 40;
  Job job({.workers = 2, .tasks = kTasks, .stack_size = 64 * 1024, .bind = false});
  std::atomic<int> ended{0};
  for (int i = 0; i < kTasks; ++i) {
    job.spawn(i % 2, [&] {
      for (int round = 0; round < 20; ++round) {
        int value = 0;
        offload([&] { value = round + 1; });
        if (value == round + 1) ++ended;
      }
    });
  }
  job.run();
  CHECK(ended == kTasks * 20);
}

std::atomic<int> stalls{0};

TEST_CASE("tasks that wait for an offloaded call are no stall; without one they are") {
  for (const bool waits_elsewhere : {true, false}) {
    stalls = 0;
    Job job({.workers = 2, .tasks = 2, .stack_size = 64 * 1024, .bind = false});
    job->set_stall_hook([]() noexcept { ++stalls; });
    test::Event event;
    std::thread outside;
    job.spawn(0, [&] {
      const auto call = [] { usleep(2 * kStallPeriod / 1000); };
      if (waits_elsewhere) {
        offload(call);
        event.complete();
      } else {
        outside = std::thread([&, call] {
          call();
          event.complete();
        });
      }
    });
    job.spawn(1, [&] { event.wait(); });
    job.run();
    if (outside.joinable()) outside.join();
    CHECK(stalls == (waits_elsewhere ? 0 : 1));
  }
}

}  // namespace
}  // namespace tmpi::sched
