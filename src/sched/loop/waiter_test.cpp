#include "sched/waiter.hpp"

#include <random>
#include <thread>
#include <vector>

#include "base/spinlock.hpp"
#include "sched/test_support.hpp"

namespace tmpi::sched {
namespace {

using test::Event;
using test::index;
using test::Job;
using test::scaled;

TEST_CASE("a waiter for nothing, and one already complete, do not block") {
  Job job({.tasks = 1, .bind = false});
  job.spawn(0, [&] {
    Waiter none(0);
    none.wait();
    Waiter two(2);
    two.complete();
    two.complete();
    two.wait();
  });
  job.run();
  CHECK(job->switches() == 1);
}

TEST_CASE("Waitall wakes once, after the last completion") {
  Job job({.tasks = 2, .bind = false});
  Waiter* waiter = nullptr;
  std::string trace;
  job.spawn(0, [&] {
    Waiter three(3);
    waiter = &three;
    three.wait();
    trace += 'w';
  });
  job.spawn(0, [&] {
    for (int i = 0; i < 3; ++i) {
      waiter->complete();
      trace += 'c';
      yield();
    }
  });
  job.run();
  CHECK(trace == "cccw");
}

/// Ping-pong between two tasks; `workers` decides whether through the inbox.
void ping_pong(int workers, int rounds) {
  Job job({.workers = workers, .tasks = 2, .stack_size = 64 * 1024});
  std::vector<Event> ping(index(rounds)), pong(index(rounds));
  long received = 0;
  job.spawn(0, [&] {
    for (std::size_t i = 0; i < ping.size(); ++i) {
      ping[i].complete();
      pong[i].wait();
      ++received;
    }
  });
  job.spawn(workers - 1, [&] {
    for (std::size_t i = 0; i < ping.size(); ++i) {
      ping[i].wait();
      pong[i].complete();
    }
  });
  job.run();
  CHECK(received == rounds);
}

TEST_CASE("ping-pong on one worker") {
  ping_pong(1, scaled(100'000));
}
TEST_CASE("ping-pong between two workers") {
  ping_pong(2, scaled(100'000));
}

TEST_CASE("no wake-up is lost between announcing sleep and sleeping") {
  // Without spinning, every round goes through the futex.
  Job job({.workers = 2, .tasks = 2, .stack_size = 64 * 1024, .bind = false, .spin_microseconds = 0});
  const int rounds = scaled(20'000);
  std::vector<Event> ping(index(rounds)), pong(index(rounds));
  job.spawn(0, [&] {
    for (std::size_t i = 0; i < ping.size(); ++i) {
      ping[i].complete();
      pong[i].wait();
    }
  });
  job.spawn(1, [&] {
    for (std::size_t i = 0; i < ping.size(); ++i) {
      ping[i].wait();
      for (std::size_t delay = 0; delay < i % 64; ++delay) cpu_relax();
      pong[i].complete();
    }
  });
  job.run();
  CHECK(pong.back().done());
}

/// Every task, in every round, waits for one event from each of `degree` others: all of them (Waitall) or any
/// (Waitany, then the rest). Neighbours are pseudo-random, tasks are spread over the workers.
void storm(int workers, int tasks, int rounds, const std::string& policy) {
  Job job(
      {.workers = workers, .tasks = tasks, .stack_size = 64 * 1024, .policy = policy, .bind = workers <= 2});
  constexpr int kDegree = 5;
  const auto slot = [&](int round, int task, int k) {
    return (index(round) * index(tasks) + index(task)) * kDegree + index(k);
  };
  std::vector<Event> events(slot(rounds, 0, 0));
  std::vector<int> stride(index(rounds * kDegree));
  std::mt19937 random(12345);
  for (int& s : stride) s = static_cast<int>(random() % static_cast<unsigned>(tasks));
  std::atomic<int> done{0};
  for (int t = 0; t < tasks; ++t) {
    job.spawn(t % workers, [&, t] {
      for (int round = 0; round < rounds; ++round) {
        for (int k = 0; k < kDegree; ++k) {
          const int to = (t + stride[index(round * kDegree + k)]) % tasks;
          events[slot(round, to, k)].complete();
        }
        if ((round + t) % 2 == 0) {
          Waiter all(kDegree);
          for (int k = 0; k < kDegree; ++k) {
            if (!events[slot(round, t, k)].attach(all)) all.complete();
          }
          all.wait();
        } else {
          Waiter any(1);
          int attached = 0;
          while (attached < kDegree && events[slot(round, t, attached)].attach(any)) ++attached;
          int claimed = 0;
          if (attached < kDegree) {
            any.complete();  // one was done before: our own completion counts as a claim
            ++claimed;
          }
          any.wait();
          for (int k = 0; k < attached; ++k) claimed += !events[slot(round, t, k)].detach(any);
          any.drain(claimed);
          for (int k = 0; k < kDegree; ++k) events[slot(round, t, k)].wait();
        }
      }
      ++done;
    });
  }
  job.run();
  CHECK(done == tasks);
}

TEST_CASE("storm of waiters on one worker") {
  storm(1, 50, scaled(200), "fifo");
}
TEST_CASE("storm of waiters on two workers") {
  storm(2, 60, scaled(400), "fifo");
}
TEST_CASE("storm of waiters, more workers than cores") {
  storm(8, 64, scaled(200), "fifo");
}
TEST_CASE("storm of waiters, other policies") {
  storm(3, 40, scaled(100), "lifo");
  storm(3, 40, scaled(100), "random:3");
}

TEST_CASE("completions from threads that are no workers") {
  for (const int workers : {1, 2}) {
    Job job({.workers = workers, .tasks = 20, .stack_size = 64 * 1024, .bind = false});
    const int rounds = scaled(1000);
    std::vector<Event> events(index(rounds * 20));
    std::atomic<int> done{0};
    for (int t = 0; t < 20; ++t) {
      job.spawn(t % workers, [&, t] {
        for (int round = 0; round < rounds; ++round) {
          Event* mine = &events[index(round * 20 + t)];
          Waiter waiter(1);
          if (!mine->attach(waiter)) continue;
          waiter.wait();
          waiter.drain(1);
        }
        ++done;
      });
    }
    std::vector<std::thread> control;
    control.reserve(2);
    for (int c = 0; c < 2; ++c) {
      control.emplace_back([&, c] {
        for (std::size_t i = index(c); i < events.size(); i += 2) events[i].complete();
      });
    }
    job.run();
    for (std::thread& thread : control) thread.join();
    CHECK(done == 20);
  }
}

}  // namespace
}  // namespace tmpi::sched
