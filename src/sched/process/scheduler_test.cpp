#include "sched/scheduler.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sched/test_support.hpp"

namespace tmpi::sched {
namespace {

using test::Event;
using test::index;
using test::Job;
using test::kSanitized;
using test::scaled;

TEST_CASE("tasks run on the workers they were given to, run() returns when all have finished") {
  Job job({.workers = 3, .tasks = 12, .stack_size = 64 * 1024});
  std::atomic<int> right{0};
  for (int i = 0; i < 12; ++i) {
    job.spawn(i % 3, [&, i] {
      if (current_worker() == i % 3 && current()->id == static_cast<unsigned>(i)) ++right;
      yield();
      if (current_worker() == i % 3 && job->worker_of(*current()) == i % 3) ++right;
    });
  }
  CHECK(scheduler() == job.operator->());
  CHECK(current() == nullptr);
  CHECK(current_worker() == -1);
  job.run();
  CHECK(right == 24);
  CHECK(current() == nullptr);
  CHECK(job->tasks() == 12);
  for (int i = 0; i < 12; ++i) CHECK(job->task(i).state == TaskState::kFinished);
  CHECK(job->switches() >= 24);
  CHECK_FALSE(single_worker());
}

TEST_CASE("run() need not take the calling thread") {
  Job job({.workers = 1, .tasks = 1, .owns_calling_thread = false});
  std::thread::id id;
  job.spawn(0, [&] { id = std::this_thread::get_id(); });
  job.run();
  CHECK(id != std::thread::id());
  CHECK(id != std::this_thread::get_id());
}

TEST_CASE("a task may spawn tasks, here and elsewhere") {
  Job job({.workers = 2, .tasks = 7, .stack_size = 64 * 1024, .bind = false});
  std::atomic<int> count{0};
  job.spawn(0, [&] {
    for (int i = 0; i < 6; ++i) {
      scheduler()->spawn(
          i % 2, [](void* counter) { ++*static_cast<std::atomic<int>*>(counter); }, &count, nullptr);
    }
  });
  job.run();
  CHECK(count == 6);
}

TEST_CASE("finish_current leaves from the depth of a task") {
  Job job({.tasks = 2, .bind = false});
  bool after = false;
  job.spawn(0, [&] {
    scheduler()->finish_current();
    after = true;
  });
  bool other = false;
  job.spawn(0, [&] { other = true; });
  job.run();
  CHECK_FALSE(after);
  CHECK(other);
}

TEST_CASE("many tasks") {
  const int n = scaled(10'000);
  Job job({.workers = 2, .tasks = n, .stack_size = 64 * 1024});
  std::atomic<long> sum{0};
  std::vector<Event> events(index(n));
  for (int i = 0; i < n; ++i) {
    job.spawn(i % 2, [&, i] {
      // A chain through all tasks, back and forth between the workers.
      if (i > 0) events[index(i)].wait();
      sum += i;
      if (i + 1 < n) events[index(i + 1)].complete();
    });
  }
  job.run();
  CHECK(sum == static_cast<long>(n) * (n - 1) / 2);
}

std::vector<std::pair<int, int>>* g_switches = nullptr;

TEST_CASE("the switch hook hears of every change of the running task") {
  Job job({.tasks = 2, .bind = false});
  std::vector<std::pair<int, int>> seen;
  seen.reserve(100);
  g_switches = &seen;
  job->set_switch_hook([](Task* from, Task* to) noexcept {
    g_switches->emplace_back(from == nullptr ? -1 : static_cast<int>(from->id),
                             to == nullptr ? -1 : static_cast<int>(to->id));
  });
  Event event;
  job.spawn(0, [&] { event.wait(); });
  job.spawn(0, [&] {
    yield();  // nobody else is ready
    event.complete();
  });
  job.run();
  const std::vector<std::pair<int, int>> expected{{-1, 0}, {0, 1}, {1, 0}, {0, -1}};
  CHECK(seen == expected);
}

int g_polls = 0;
Event* g_network = nullptr;

TEST_CASE("an event source is polled when idle and between busy tasks") {
  Job job({.tasks = 2, .bind = false});
  g_polls = 0;
  Event event;
  g_network = &event;
  job->set_event_source({.poll =
                             []() noexcept {
                               if (++g_polls != 50) return false;
                               g_network->complete();
                               return true;
                             },
                         .arm = [](bool) noexcept { return Arming{.nanoseconds = 100'000}; }});
  SUBCASE("idle") {
    job.spawn(0, [&] { event.wait(); });
    job.run();
    CHECK(g_polls >= 50);
  }
  SUBCASE("busy") {
    for (int i = 0; i < 2; ++i) {
      job.spawn(0, [&] {
        for (long turns = 0; !event.done(); ++turns) {
          yield();
          if (turns > 100'000'000) return;
        }
      });
    }
    job.run();
    CHECK(event.done());
  }
}

TEST_CASE("wake-ups from elsewhere reach a worker that is never idle") {
  Job job({.workers = 2, .tasks = 4, .stack_size = 64 * 1024, .bind = false});
  Event woken;
  std::atomic<bool> stop{false};
  for (int i = 0; i < 2; ++i) {
    job.spawn(0, [&] {
      while (!stop) yield();
    });
  }
  job.spawn(0, [&] {
    woken.wait();
    stop = true;
  });
  job.spawn(1, [&] { woken.complete(); });
  job.run();
  CHECK(stop);
}

TEST_CASE("blocking keeps errno and exceptions, with another task in between") {
  Job job({.tasks = 4, .bind = false});
  int right = 0;
  for (int i = 0; i < 4; ++i) {
    job.spawn(0, [&, i] {
      try {
        try {
          throw std::runtime_error(std::to_string(i));
        } catch (...) {
          errno = 100 + i;
          yield();
          if (errno == 100 + i) ++right;
          throw;
        }
      } catch (const std::runtime_error& error) {
        yield();
        if (error.what() == std::to_string(i)) ++right;
      }
    });
  }
  job.run();
  CHECK(right == 8);
}

__attribute__((noinline)) int deep(int levels) {
  volatile char frame[1024] = {};
  frame[0] = static_cast<char>(levels);
  return levels == 0 ? frame[0] : deep(levels - 1) + frame[0];
}

TEST_CASE("the high-water mark sees deep recursion; guards name their task") {
  Job job({.tasks = 3, .stack_size = 512 * 1024, .bind = false});
  for (int i = 0; i < 3; ++i) {
    job.spawn(0, [i] {
      if (i == 1) deep(200);
    });
  }
  job.run();
  CHECK(job->stack_high_water(job->task(1)) >= 200 * 1024);
  CHECK(job->stack_high_water(job->task(1)) <= 512 * 1024);
  CHECK(job->stack_high_water(job->task(0)) > 0);
  if (!kSanitized) CHECK(job->stack_high_water(job->task(0)) <= 16 * 1024);
  const Task& middle = job->task(1);
  CHECK(job->guard_page_owner(middle.stack.base - 1) == &middle);
  CHECK(job->guard_page_owner(middle.stack.base) == nullptr);
  CHECK(job->stack_size() == 512 * 1024);
}

int endless(int depth) {
  volatile char frame[3000] = {};
  frame[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : endless(depth + 1) + frame[0];
}

void on_overflow(int, siginfo_t* info, void*) {
  const Task* task = scheduler()->guard_page_owner(info->si_addr);
  _exit(task != nullptr && task == current() ? 40 + static_cast<int>(task->id) : 1);
}

TEST_CASE("an overflow is caught on the alternate stack and belongs to the running task" *
          doctest::skip(kSanitized)) {
  for (const int workers : {1, 2}) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(100);
      struct sigaction action {};
      action.sa_sigaction = on_overflow;
      action.sa_flags = SA_SIGINFO | SA_ONSTACK;
      sigaction(SIGSEGV, &action, nullptr);
      Job job({.workers = workers, .tasks = 4, .stack_size = 64 * 1024, .bind = false});
      for (int i = 0; i < 4; ++i) {
        job.spawn(i % workers, [i] {
          if (i == 3) endless(0);
        });
      }
      job.run();
      _exit(2);
    }
    int status = 0;
    waitpid(child, &status, 0);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 43);
  }
}

TEST_CASE("an adopted thread blocks, yields and is woken by other threads") {
  Job job({.bind = false});
  int owner = 0;
  Task& self = job->adopt_current_thread(&owner);
  CHECK(current() == &self);
  CHECK(self.owner == &owner);
  CHECK(single_worker());
  yield();
  Event now;
  now.complete();
  now.wait();
  for (int i = 0; i < scaled(200); ++i) {
    Event event;
    std::thread other([&] {
      if (i % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      event.complete();
    });
    event.wait();
    CHECK(event.done());
    other.join();
  }
  CHECK(job->stack_high_water(self) == 0);
}

TEST_CASE("tasks are added while others run, and are started or dropped by another thread") {
  static std::atomic<int> ran;
  ran = 0;
  Job job({.workers = 2, .tasks = 1, .stack_size = 64 * 1024, .bind = false});
  const Scheduler::NewTask here{.worker = 0, .entry = [](void*) {
                                  ran += 1;
                                  yield();
                                  ran += 1;
                                }};
  Scheduler::NewTask there = here;
  there.worker = 1;
  const std::vector<Scheduler::NewTask> tasks = {here, there, here};
  CHECK_FALSE(job->add(tasks));  // the one that was announced has not come yet
  Result<int> added = Failure{"not yet"}, more = Failure{"not yet"};
  std::thread starter;
  job.spawn(0, [&] {
    added = job->add(tasks);
    CHECK(job->residents(0) == 3);
    for (int round = 0; round < 3; ++round) yield();
    CHECK(ran == 0);
    starter = std::thread([&] {
      more = job->add(std::vector<Scheduler::NewTask>(5, there));
      for (int i = 0; i < 5; ++i) job->start(job->task(*more + i));
      job->start(job->task(*added));
      job->start(job->task(*added + 1));
      job->drop(job->task(*added + 2));
    });
  });
  job.run();  // until the last of those has ended, too
  starter.join();
  REQUIRE(added);
  CHECK(*added == 1);
  CHECK(*more == 4);
  CHECK(ran == 2 * 7);
  CHECK(job->tasks() == 9);
  for (int i = 0; i < 9; ++i) CHECK(job->task(i).state == TaskState::kFinished);
  CHECK(job->guard_page_owner(job->task(6).stack.base - 8) == &job->task(6));
  CHECK_FALSE(job->add(tasks));  // too late
}

TEST_CASE("bindings are reported, senseless numbers refused") {
  {
    Job job({.workers = 2, .tasks = 1});
    const auto lines = job->bindings();
    REQUIRE(lines.size() == 2);
    CHECK(lines[1].find("worker 1: core ") == 0);
    CHECK(lines[1].find("NUMA node ") != std::string::npos);
    CHECK_FALSE(Scheduler::create({}));  // one per process
  }
  {
    Job job({.workers = 1000, .tasks = 1, .bind = false});
    CHECK(job->bindings()[999] == "worker 999: not bound");
    CHECK(job->oversubscribed());
  }
  CHECK_FALSE(Scheduler::create({.workers = 0}));
  CHECK_FALSE(Scheduler::create({.tasks = 0}));
  CHECK_FALSE(Scheduler::create({.stack_size = 100}));
  CHECK(scheduler() == nullptr);
}

}  // namespace
}  // namespace tmpi::sched
