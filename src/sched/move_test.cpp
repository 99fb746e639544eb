#include "sched/move.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <thread>
#include <vector>

#include "sched/assignment.hpp"
#include "sched/balances.hpp"
#include "sched/helper.hpp"
#include "sched/sleep.hpp"
#include "sched/test_support.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {
namespace {

using test::Event;
using test::index;
using test::Job;
using test::scaled;

Options moving(const char* balance, int workers, int tasks) {
  return {.workers = workers, .tasks = tasks, .stack_size = 64 * 1024, .balance = balance, .bind = false};
}

void compute(double seconds) {
  const double end = timers::seconds(timers::now_ticks()) + seconds;
  while (timers::seconds(timers::now_ticks()) < end) continue;
}

// Where errno is may be kept across a call (docs/load-balance.md).
__attribute__((noinline)) void set_errno(int value) {
  errno = value;
}
__attribute__((noinline)) int get_errno() {
  return errno;
}

/// All come, the last one lets the others go on.
class Together {
 public:
  explicit Together(int members) : members_(members) {}
  void arrive(bool step = false) {
    Event mine;
    {
      mutex_.lock();
      if (++arrived_ < members_) {
        waiting_.push_back(&mine);
        mutex_.unlock();
        return mine.wait();
      }
      arrived_ = 0;
      std::vector<Event*> all;
      all.swap(waiting_);
      mutex_.unlock();
      if (step) step_done(members_);
      for (Event* event : all) event->complete();
    }
  }

 private:
  const int members_;
  std::mutex mutex_;
  int arrived_ = 0;
  std::vector<Event*> waiting_;
};

TEST_CASE("a task moves to the worker it asks for, and finds its own there") {
  Job job(moving("manual", 3, 4));
  std::atomic<int> wrong{0};
  for (int i = 0; i < 4; ++i) {
    job.spawn(i % 3, [&wrong, i] {
      int sum = 0;
      for (int round = 0; round < scaled(3000); ++round) {
        const int to = (i + round) % 3;
        set_errno(round);
        wrong += move_to(to) != Moved::kYes || current_worker() != to || get_errno() != round;
        sum += round;
        if (round % 5 == 0) yield();
      }
      wrong += sum != scaled(3000) * (scaled(3000) - 1) / 2;
    });
  }
  job.run();
  CHECK(wrong == 0);
}

TEST_CASE("tasks of a job that does not balance stay, and so do those with something of their worker's") {
  {
    Job job(moving("none", 2, 1));
    Moved moved = Moved::kYes;
    job.spawn(0, [&] { moved = move_to(1); });
    job.run();
    CHECK(moved == Moved::kStationary);
    CHECK(!tasks_move());
  }
  Job job(moving("rotate", 2, 3));
  Event end;
  std::vector<Moved> moved;
  std::atomic<int> strayed{0};
  job.spawn(0, [&] {
    anchor(*current());
    moved.push_back(move_to(1));
    for (int i = 0; i < 1000; ++i) {
      yield();
      strayed += current_worker() != 0;
    }
    unanchor(*current());
    moved.push_back(move_to(1));
    moved.push_back(move_to(0));
    // A helper fiber works for it.
    static Event* ended;
    ended = &end;
    REQUIRE(run_helper([](void*) { ended->wait(); }, nullptr));
    const int here = current_worker();
    moved.push_back(move_to(1 - here));
    for (int i = 0; i < 1000; ++i) {
      yield();
      strayed += current_worker() != here;
    }
    end.complete();
    while (move_to(1 - here) != Moved::kYes) yield();
  });
  for (int i = 0; i < 2; ++i) {
    job.spawn(i, [] {
      for (int round = 0; round < 2000; ++round) yield();
    });
  }
  job.run();
  CHECK(strayed == 0);
  CHECK(moved == std::vector{Moved::kAnchored, Moved::kYes, Moved::kYes, Moved::kAnchored});
}

TEST_CASE("tasks that move at every chance wait for each other and find all that the others have done") {
  for (const int workers : {2, 3, 8}) {
    CAPTURE(workers);
    constexpr int kTasks = 12;
    Job job(moving("rotate", workers, kTasks));
    Together together(kTasks);
    std::vector<long> values(kTasks);  // not atomic
    std::atomic<int> wrong{0};
    std::uint64_t moved = 0;
    for (int i = 0; i < kTasks; ++i) {
      job.spawn(i % workers, [&, i] {
        for (long round = 1; round <= scaled(2000); ++round) {
          values[index(i)] = round;
          together.arrive();
          for (const long value : values) wrong += value != round;
          together.arrive();
        }
        if (i == 0) moved = moves();
      });
    }
    job.run();
    CHECK(wrong == 0);
    CHECK(moved > static_cast<std::uint64_t>(scaled(2000)));
  }
}

TEST_CASE("interrupts find tasks that move, and sleepers sleep until their time") {
  static std::atomic<int> served;
  served = 0;
  constexpr int kTasks = 4;
  Job job(moving("rotate", 3, kTasks));
  job->set_interrupt_hook([](Task&) noexcept { served.fetch_add(1); });
  std::atomic<bool> stop{false};
  std::atomic<int> early{0}, running{kTasks};
  for (int i = 0; i < kTasks; ++i) {
    job.spawn(i % 3, [&] {
      while (!stop.load()) {
        yield();
        const std::uint64_t until = monotonic_now() + 20'000;
        if (sleep_until(until)) early += monotonic_now() < until;
      }
      --running;
    });
  }
  std::thread outside([&] {
    for (int i = 0; i < scaled(4000); ++i) {
      interrupt(const_cast<Task&>(job->task(i % kTasks)));
      if (i % 8 == 0) std::this_thread::yield();
    }
    stop = true;
  });
  job.run();
  outside.join();
  CHECK(early == 0);
  CHECK(running == 0);
}

TEST_CASE("an interrupt of a task that is blocked elsewhere is served without what it waits for") {
  static std::atomic<int> served;
  served = 0;
  Job job(moving("manual", 2, 2));
  job->set_interrupt_hook([](Task&) noexcept { served.fetch_add(1); });
  std::atomic<bool> blocks{false};
  Event end;
  Task& waiting = job.spawn(0, [&] {
    for (int i = 0; i < scaled(2000); ++i) move_to(i % 2);
    move_to(1);
    blocks = true;
    end.wait();
  });
  job.spawn(0, [&] {
    while (!blocks.load()) {
      interrupt(waiting);
      yield();
    }
    const int before = served;
    interrupt(waiting);
    while (served == before) yield();
    end.complete();
  });
  job.run();
  CHECK(served > 0);
}

TEST_CASE("a worker that idles gets tasks of one that has many, and none of a ping-pong" *
          doctest::test_suite("timing")) {
  {
    Job job(moving("steal", 2, 8));
    std::atomic<int> elsewhere{0};
    for (int i = 0; i < 8; ++i) {
      job.spawn(0, [&] {
        for (int round = 0; round < 4; ++round) {
          compute(2e-3);
          yield();
        }
        elsewhere += current_worker() == 1;
      });
    }
    job.run();
    CHECK(elsewhere > 0);
    CHECK(elsewhere < 8);
  }
  Job job(moving("steal", 2, 2));
  Event there[100], back[100];
  std::uint64_t moved = 1;
  job.spawn(0, [&] {
    for (int i = 0; i < 100; ++i) {
      there[i].complete();
      back[i].wait();
    }
    moved = moves();
  });
  job.spawn(0, [&] {
    for (int i = 0; i < 100; ++i) {
      there[i].wait();
      back[i].complete();
    }
  });
  job.run();
  CHECK(moved == 0);
}

TEST_CASE("what becomes ready on a worker that computes for long runs elsewhere meanwhile" *
          doctest::test_suite("timing")) {
  for (const char* balance : {"steal", "auto"}) {
    CAPTURE(balance);
    Job job(moving(balance, 2, 8));
    Event begin[6];
    std::atomic<bool> ends{false};
    std::atomic<int> in_time{0}, waiting{0};
    job.spawn(0, [&] {
      while (waiting < 6) yield();
      compute(2e-3);  // it is known to run for long
      yield();
      compute(0.1);
      ends = true;
    });
    for (int i = 0; i < 6; ++i) {
      job.spawn(0, [&, i] {
        ++waiting;
        begin[i].wait();
        in_time += !ends;
      });
    }
    job.spawn(1, [&] {
      while (waiting < 6) yield();
      compute(0.02);
      for (Event& event : begin) event.complete();
    });
    job.run();
    CHECK(in_time == 6);
  }
}

TEST_CASE("tasks that are taken from workers that compute wait for each other and find all that was done") {
  for (const int workers : {2, 3, 8}) {
    CAPTURE(workers);
    constexpr int kTasks = 12;
    Job job(moving(workers == 3 ? "auto:period=1" : "steal", workers, kTasks));
    Together together(kTasks);
    std::vector<long> values(kTasks);  // not atomic
    std::atomic<int> wrong{0};
    std::uint64_t moved = 0;
    for (int i = 0; i < kTasks; ++i) {
      job.spawn(0, [&, i] {
        for (long round = 1; round <= scaled(300); ++round) {
          compute(static_cast<double>((round * 7 + i * 3) % 5) * 15e-6);
          values[index(i)] = round;
          together.arrive(round % 2 == 0);
          for (const long value : values) wrong += value != round;
          if (i % 3 == 0) yield();
          together.arrive();
        }
        if (i == 0) moved = moves();
      });
    }
    job.run();
    CHECK(wrong == 0);
    CHECK(moved > 0);
  }
}

TEST_CASE("measured loads are evened out at the end of a step" * doctest::test_suite("timing")) {
  for (const char* balance : {"greedy:period=1", "refine:period=1", "auto:period=1"}) {
    CAPTURE(balance);
    Job job(moving(balance, 2, 8));
    Together together(8);
    std::atomic<int> heavy_on_second{0};
    for (int i = 0; i < 8; ++i) {
      job.spawn(i / 4, [&, i] {
        for (int step = 0; step < 6; ++step) {
          compute(i < 4 ? 2e-3 : 2e-4);
          together.arrive(true);
        }
        if (i < 4) heavy_on_second += current_worker() == 1;
      });
    }
    job.run();
    CHECK(heavy_on_second >= 1);
    CHECK(heavy_on_second <= 3);
  }
}

TEST_CASE("an assignment evens out loads, leaves what is fixed, and refine moves little") {
  const std::vector<char> open = {1, 1, 1, 0};
  std::vector<Load> loads;
  for (int i = 0; i < 30; ++i) loads.push_back({.time = 1.0 + i % 7, .worker = i < 20 ? 0 : 1});
  loads.push_back({.time = 5, .worker = 2, .fixed = true});
  loads.push_back({.time = 50, .worker = 3, .fixed = true});
  double total = 0;
  for (const Load& load : loads) total += load.worker < 3 ? load.time : 0;
  for (auto* assign : {assign_greedy, assign_refine}) {
    std::vector<Load> changed = loads;
    assign(changed, open);
    int moved = 0;
    double sums[4] = {};
    for (std::size_t i = 0; i < loads.size(); ++i) {
      moved += changed[i].worker != loads[i].worker;
      sums[changed[i].worker] += changed[i].time;
      if (loads[i].fixed) CHECK(changed[i].worker == loads[i].worker);
    }
    CHECK(sums[3] == 50);
    for (int w = 0; w < 3; ++w) CHECK(sums[w] <= 1.03 * total / 3);
    if (assign == assign_refine) CHECK(moved <= 12);
  }
  // Half of the tasks have nine times the work.
  std::vector<Load> halves;
  for (int i = 0; i < 16; ++i) halves.push_back({.time = i < 8 ? 9.0 : 1.0, .worker = i / 8});
  const std::vector<char> two = {1, 1};
  assign_refine(halves, two);
  CHECK(largest(halves, 2) == 40);
  // Nothing to gain: nothing moves.
  std::vector<Load> even = {{.time = 3, .worker = 0}, {.time = 3, .worker = 1}};
  assign_refine(even, two);
  CHECK(even[0].worker == 0);
  CHECK(even[1].worker == 1);
}

TEST_CASE("--balance by name") {
  CHECK(parse_balance("none")->kind == BalanceKind::kNone);
  CHECK(parse_balance("refine:period=20")->kind == BalanceKind::kRefine);
  CHECK(parse_balance("refine:period=20")->period == doctest::Approx(0.02));
  for (const char* bad :
       {"", "no", "steal:period=3", "auto:period=0", "auto:period=", "auto:20", "greedy:period=1x"})
    CHECK(!parse_balance(bad));
  CHECK(!Scheduler::create({.workers = 2, .policy = "lifo", .balance = "steal"}));
  CHECK(!Scheduler::create({.workers = 2, .balance = "equal"}));
}

}  // namespace
}  // namespace tmpi::sched
