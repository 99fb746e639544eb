#include "sched/offload.hpp"

#include <unistd.h>

#include <algorithm>
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

TEST_CASE("of a strand's calls one is made at a time, in their order") {
  constexpr int kTasks = 30, kRounds = 50;
  Job job({.workers = 2, .tasks = kTasks, .stack_size = 64 * 1024, .bind = false});
  Strand strand, other;
  std::atomic<int> inside{0}, most{0}, made{0};
  for (int i = 0; i < kTasks; ++i) {
    job.spawn(i % 2, [&, i] {
      int before = -1;
      for (int round = 0; round < kRounds; ++round) {
        if (i % 5 == 0) {
          offload([] {}, i % 2 == 0 ? &other : nullptr);
          continue;
        }
        offload(
            [&] {
              most = std::max(most.load(), ++inside);
              CHECK(before < made);
              before = made++;
              --inside;
            },
            &strand);
      }
    });
  }
  job.run();
  CHECK(most == 1);
  CHECK(made == kTasks / 5 * 4 * kRounds);
}

// What waits in a strand needs no scheduling point of a worker to begin: a task that computes hides it, too.
TEST_CASE("a strand goes on while all workers compute") {
  Job job({.workers = 1, .tasks = 3, .stack_size = 64 * 1024, .bind = false});
  Strand strand;
  std::atomic<bool> computing{false}, second_made{false};
  job.spawn(0, [&] {
    offload(
        [&] {
          while (!computing) usleep(100);
        },
        &strand);
  });
  job.spawn(0, [&] { offload([&] { second_made = true; }, &strand); });
  job.spawn(0, [&] {
    CHECK(offloaded() == 2);
    computing = true;
    while (!second_made) {
    }
  });
  job.run();
  CHECK(await_offloaded());
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
