// Idle workers that take tasks of those that compute (docs/design/load-balance.md).
#include <doctest/doctest.h>

#include <atomic>
#include <vector>

#include "sched/move.hpp"
#include "sched/mover/move_test_support.hpp"
#include "sched/worker/worker.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {
namespace {

using test::compute;
using test::Event;
using test::index;
using test::Job;
using test::moving;
using test::scaled;
using test::Together;

const Balancer::Movers& movers_of_job() {
  return this_worker()->mover()->balancer().movers();
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

TEST_CASE("who computes for long lets others in before it goes on with a message that has come") {
  Job job(moving("steal", 2, 2));
  Event end;
  bool goes_on = true, goes_on_alone = false;
  job.spawn(0, [&] {
    yield();  // the other one waits now
    compute(1e-3);
    goes_on = lone_worker() >= 0;
    end.complete();
    while (this_worker()->has_company()) yield();
    yield();  // perhaps it is open still
    for (int i = 0; i < 4; ++i) goes_on_alone = goes_on_alone || lone_worker() >= 0;
  });
  job.spawn(0, [&] { end.wait(); });
  job.run();
  CHECK(!goes_on);
  CHECK(goes_on_alone);
}

TEST_CASE("a look for a message and the wait for it are one turn" * doctest::test_suite("timing")) {
  Job job(moving("steal", 2, 2));
  constexpr int kRounds = 50;
  Event there[kRounds], back[kRounds];
  int once = 0;  // another process may have the core between the two
  job.spawn(0, [&] {
    const auto slot = [] { return current()->moving->slot.load(); };
    for (int i = 0; i < kRounds; ++i) {
      compute(1e-4);
      there[i].complete();
      lone_worker();
      const std::uint64_t before = slot();
      back[i].wait();
      once += slot() == before;
    }
  });
  job.spawn(1, [&] {
    for (int i = 0; i < kRounds; ++i) {
      there[i].wait();
      compute(5e-5);
      back[i].complete();
    }
  });
  job.run();
  CHECK(once > 0);
}

TEST_CASE("tasks that are taken from workers that compute wait for each other and find all that was done") {
  constexpr int kTasks = 12;
  std::atomic<int> wrong{0};
  const auto moves_of_job = [&](int workers) {
    Job job(moving(workers == 3 ? "auto:period=1" : "steal", workers, kTasks));
    Together together(kTasks);
    std::vector<long> values(kTasks);  // not atomic
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
    return moved;
  };
  for (const int workers : {2, 3, 8}) {
    CAPTURE(workers);
    // The other workers' threads may get no time meanwhile.
    int attempts = 100;
    while (moves_of_job(workers) == 0 && attempts > 0) --attempts;
    CHECK(wrong == 0);
    CHECK(attempts > 0);
  }
}

TEST_CASE("nobody is to go back to a worker that takes nobody any more" * doctest::test_suite("timing")) {
  for (const char* balance : {"steal", "auto:period=1"}) {
    CAPTURE(balance);
    Job job(moving(balance, 3, 9));
    Together together(8);
    std::atomic<bool> closed{false};
    std::atomic<int> lost{0}, taken{0};
    job.spawn(2, [&] {
      this_worker()->close();
      closed = true;
    });
    for (int i = 0; i < 8; ++i) {
      job.spawn(0, [&] {
        Moving& moving = *current()->moving;
        moving.assigned = 2;  // before that was closed
        while (!closed) yield();
        for (int step = 0; step < 6; ++step) {
          compute(2e-3);
          yield();
          lost += moving.target == 2;
          taken += current_worker() == 1;
          together.arrive(true);
          lost += moving.target == 2;
        }
      });
    }
    job.run();
    CHECK(lost == 0);
    CHECK(taken > 0);
  }
}

// While one task computes two others are ready there that are known to run for long: more than one thief takes at a time.
// Both other workers are parked, and one of them is woken by the worker that computes.
TEST_CASE("who takes one of two long tasks has the next worker come for the other" *
          doctest::test_suite("timing")) {
  int in_time = 0;
  // Who computes may be taken itself, before it begins, and threads may get no time for long.
  for (int attempts = 0, tries = 0; attempts < 20 && tries < 3 && in_time < 2; ++attempts) {
    Job job(moving("steal", 3, 4));
    Event begin[3];
    std::atomic<int> waiting{0}, begun{0};
    std::atomic<bool> over{false}, in_place{false};
    const auto wait_on_first = [&](int i) {
      compute(2e-3);
      while (move_to(0) != Moved::kYes || current_worker() != 0) continue;
      ++waiting;
      begin[i].wait();
    };
    job.spawn(0, [&] {
      anchor(*current());
      while (waiting < 3) yield();
      for (const Mover* mover : movers_of_job()) {
        while (mover->index() != 0 && !mover->loop().parking().announced()) compute(1e-4);
      }
      for (Event& event : begin) event.complete();
    });
    job.spawn(0, [&] {
      wait_on_first(0);
      in_place = current_worker() == 0;
      compute(0.1);
      over = true;
    });
    for (int i = 1; i < 3; ++i) {
      job.spawn(i, [&, i] {
        wait_on_first(i);
        if (!over) ++begun;
        while (begun < 2 && !over) compute(1e-4);
      });
    }
    job.run();
    if (!in_place) continue;
    ++tries;
    in_time = begun;
  }
  CHECK(in_time == 2);
}

// The idle worker is the last one, and comes by the first before it comes by the second.
TEST_CASE("who idles takes from the worker where most waits" * doctest::test_suite("timing")) {
  int first = -1;
  for (int attempt = 0; attempt < 5 && first < 0; ++attempt) {  // it may get no time for long
    Job job(moving("steal", 3, 11));
    std::atomic<int> taken_from{-1};
    const auto task_of = [&](int worker) {
      compute(2e-3);  // known to run for long
      yield();
      int none = -1;
      if (current_worker() == 2) taken_from.compare_exchange_strong(none, worker);
      for (int i = 0; i < 1000 && taken_from < 0; ++i) compute(1e-4);
    };
    for (int i = 0; i < 10; ++i) job.spawn(i < 3 ? 0 : 1, [&, i] { task_of(i < 3 ? 0 : 1); });
    job.spawn(2, [&] {
      const auto& workers = movers_of_job();
      for (int i = 0; i < 1000 && !(workers[0]->invites() && workers[1]->invites()); ++i) compute(1e-4);
    });
    job.run();
    first = taken_from;
  }
  CHECK(first == 1);
}

TEST_CASE(
    "a worker that idles takes who talks with those it has, then any, and last who would be parted from "
    "others") {
  enum { kLong, kAny, kBelongs, kParted, kLast, kThere, kTasks };
  Job job(moving("steal", 2, kTasks));
  Event end;
  std::atomic<Task*> tasks[kTasks] = {};
  std::atomic<bool> ready{false};
  std::atomic<int> ended{0};
  std::vector<int> taken;  // in this order, by worker 1
  job.spawn(0, [&] {
    tasks[kLong] = current();
    compute(2e-3);  // it is known to run for long
    yield();        // the others have begun, and are ready
    const auto tie = [&](int task, int to) {
      Ties& ties = tasks[task].load()->moving->ties;
      ties.set_share(0.5);
      ties.set(0, tasks[to].load()->id, 0.1);
    };
    while (tasks[kThere] == nullptr) compute(1e-4);
    // What has been measured, which is nothing, is written there now and then.
    for (const double limit = timers::seconds(timers::now_ticks()) + 20;
         ended < 3 && timers::seconds(timers::now_ticks()) < limit;) {
      tie(kParted, kLong);
      tie(kBelongs, kThere);
      ready = true;
    }
    end.complete();
  });
  for (const int which : {kAny, kBelongs, kParted, kLast}) {  // who was left last is not offered
    job.spawn(0, [&, which] {
      tasks[which] = current();
      yield();
      if (current_worker() == 1) taken.push_back(which);
      ++ended;
    });
  }
  job.spawn(1, [&] {
    tasks[kThere] = current();
    Mover& other = *movers_of_job()[0];
    while (!ready || !other.invites()) compute(1e-4);
    end.wait();
  });
  job.run();
  std::string order;
  for (const int task : taken) order += "_ABPL_"[task];
  CHECK(order == "BAP");
}

TEST_CASE("which task of a busy worker an idle one takes first") {
  CHECK(fit(0, 0.5, false) == Fit::kAny);
  CHECK(fit(0, 0.5, true) == Fit::kBelongs);
  CHECK(fit(0, 0, false) == Fit::kAny);
  // Who talks more with those here belongs here, and more with those there is parted from them, home or not.
  CHECK(fit(0.1, 0.5, false) == Fit::kBelongs);
  CHECK(fit(-0.1, 0.5, false) == Fit::kParted);
  CHECK(fit(-0.1, 0.5, true) == Fit::kParted);
  // Few messages say nothing.
  CHECK(fit(0.005, 0.5, false) == Fit::kAny);
  CHECK(fit(-0.005, 0.5, true) == Fit::kBelongs);
  // It would cost more than it gains. But who hardly computes, and for whom others wait perhaps, is taken.
  CHECK(fit(-0.3, 0.5, true) == Fit::kStays);
  CHECK(fit(-0.009, 0.001, false) == Fit::kParted);
}

}  // namespace
}  // namespace tmpi::sched
