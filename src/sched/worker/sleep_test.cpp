#include "sched/sleep.hpp"

#include <signal.h>

#include <atomic>
#include <thread>
#include <vector>

#include "sched/test_support.hpp"

namespace tmpi::sched {
namespace {

using test::Event;
using test::index;
using test::Job;
using test::scaled;

constexpr std::uint64_t kMilli = 1'000'000;

TEST_CASE("tasks of one worker sleep at the same time, and none wakes early") {
  constexpr int kTasks = 10;
  Job job({.tasks = kTasks, .bind = false});
  std::vector<std::uint64_t> early(kTasks, 0);
  std::vector<int> order;
  int here = 0;
  std::uint64_t start = 0;
  for (int i = 0; i < kTasks; ++i) {
    job.spawn(0, [&, i] {
      // Together: on a busy machine it may take longer than they sleep until all have begun.
      if (++here == kTasks) start = monotonic_now();
      while (here < kTasks) yield();
      // The later they come the earlier they are due.
      const std::uint64_t deadline = start + (200 - 10 * static_cast<std::uint64_t>(i)) * kMilli;
      CHECK(sleep_until(deadline));
      early[index(i)] = monotonic_now() < deadline ? 1 : 0;
      order.push_back(i);
    });
  }
  job.run();
  for (const std::uint64_t one : early) CHECK(one == 0);
  for (int i = 0; i < kTasks; ++i) CHECK(order[index(i)] == kTasks - 1 - i);
  CHECK(monotonic_now() - start < 1500 * kMilli);  // one after the other: 1.55 s
}

TEST_CASE("others run while a task sleeps, and it comes back although they never let the worker idle") {
  Job job({.tasks = 2, .bind = false});
  bool slept = false;
  long turns = 0;
  job.spawn(0, [&] { slept = sleep_until(monotonic_now() + 20 * kMilli); });
  job.spawn(0, [&] {
    while (!slept) {
      ++turns;
      yield();
    }
  });
  job.run();
  CHECK(slept);
  CHECK(turns > 0);
}

TEST_CASE("what is woken from elsewhere does not wait for who sleeps") {
  Job job({.workers = 2, .tasks = 3, .bind = false});
  Event event;
  std::uint64_t woken = 0;
  const std::uint64_t start = monotonic_now();
  job.spawn(0, [&] { CHECK(sleep_until(start + 400 * kMilli)); });
  job.spawn(0, [&] {
    event.wait();
    woken = monotonic_now();
  });
  job.spawn(1, [&] {
    CHECK(sleep_until(start + 50 * kMilli));
    event.complete();
  });
  job.run();
  CHECK(woken - start >= 50 * kMilli);
  CHECK(woken - start < 400 * kMilli);
}

TEST_CASE("a worker whose task sleeps is no stall") {
  static std::atomic<int> stalls;
  stalls = 0;
  Job job({.workers = 2, .tasks = 2, .bind = false});
  job->set_stall_hook([]() noexcept { ++stalls; });
  Event event;
  job.spawn(0, [&] { event.wait(); });
  job.spawn(1, [&] {
    sleep_until(monotonic_now() + 3 * kStallPeriod);
    event.complete();
  });
  job.run();
  CHECK(stalls == 0);
}

std::vector<const Task*> interrupted_tasks;

void note_interrupt(Task& task) noexcept {
  interrupted_tasks.push_back(&task);
  CHECK(current() == &task);
}

TEST_CASE("interrupt ends a sleep, and a task that waits for something else goes on waiting") {
  Job job({.tasks = 3, .bind = false});
  job->set_interrupt_hook(&note_interrupt);
  interrupted_tasks.clear();
  Event event;
  const Task* waiting = nullptr;
  bool in_time = true, has_waited = false;
  job.spawn(0, [&] { in_time = sleep_until(kForever); });
  job.spawn(0, [&] {
    waiting = current();
    event.wait();
    has_waited = true;
  });
  job.spawn(0, [&] {
    interrupt(const_cast<Task&>(job->task(0)));
    interrupt(const_cast<Task&>(job->task(1)));
    yield();
    yield();
    CHECK_FALSE(in_time);
    CHECK_FALSE(has_waited);
    CHECK(interrupted_tasks.size() == 1);
    event.complete();
  });
  job.run();
  CHECK(has_waited);
  // Who sleeps is told by the result.
  CHECK(interrupted_tasks == std::vector{waiting});
}

TEST_CASE(
    "an interrupt that finds its task ready or running ends its next sleep, or calls the hook where it goes "
    "on") {
  static int calls;
  calls = 0;
  Job job({.tasks = 2, .bind = false});
  job->set_interrupt_hook([](Task&) noexcept { ++calls; });
  const auto passes = [](int expected) { return calls == expected; };
  job.spawn(0, [&] {
    interrupt(const_cast<Task&>(job->task(1)));  // it has not run yet
    CHECK(sleep_until(monotonic_now() + 50 * kMilli));
  });
  job.spawn(0, [&] {
    const std::uint64_t start = monotonic_now();
    CHECK_FALSE(sleep_until(start + 5000 * kMilli));
    CHECK(monotonic_now() - start < 4000 * kMilli);
    CHECK(passes(0));
    // The other one sleeps: nobody is ready.
    interrupt(*current());
    yield();
    CHECK(passes(1));
    interrupt(*current());
    yield_polling();
    CHECK(passes(2));
  });
  job.run();
}

TEST_CASE("a task that has been interrupted while it runs is nobody who waits for the worker") {
  Job job({.tasks = 1, .bind = false});
  job.spawn(0, [&] {
    interrupt(*current());
    CHECK(hold_until(monotonic_now() + 60 * kMilli));
  });
  job.run();
  CHECK(job->held(0) == 0);
}

TEST_CASE("interrupts from another thread reach a worker that sleeps, and none is lost") {
  const int rounds = scaled(2000);
  static std::atomic<int> calls;
  calls = 0;
  Job job({.tasks = 2, .bind = false, .spin_microseconds = 0});
  job->set_interrupt_hook([](Task&) noexcept { calls.fetch_add(1); });
  Event event;
  std::atomic<bool> waits{false};
  job.spawn(0, [&] {
    waits = true;
    event.wait();
  });
  job.spawn(0, [&] {
    while (calls < rounds) sleep_until(monotonic_now() + 100'000);
    event.complete();
  });
  std::thread other([&] {
    while (!waits) std::this_thread::yield();
    for (int i = 0; i < rounds; ++i) {
      const int before = calls;
      interrupt(const_cast<Task&>(job->task(0)));
      while (calls == before) std::this_thread::yield();
    }
  });
  job.run();
  other.join();
  CHECK(calls == rounds);
}

TEST_CASE("a task that is interrupted and woken at once goes on exactly once") {
  const int rounds = scaled(20'000);
  Job job({.workers = 2, .tasks = 2, .bind = false, .spin_microseconds = 1});
  job->set_interrupt_hook([](Task&) noexcept {});
  std::vector<Event> events(index(rounds));
  std::atomic<int> round{0};
  job.spawn(0, [&] {
    for (int i = 0; i < rounds; ++i) {
      events[index(i)].wait();
      CHECK(events[index(i)].done());
      round = i + 1;
    }
  });
  job.spawn(1, [&] {
    for (int i = 0; i < rounds; ++i) {
      interrupt(const_cast<Task&>(job->task(0)));
      events[index(i)].complete();
      interrupt(const_cast<Task&>(job->task(0)));
      while (round <= i) yield();
    }
  });
  job.run();
  CHECK(round == rounds);
}

// A worker that is watchful looks at more at every switch, and nobody is alone on it (lone_worker()).
TEST_CASE("who has slept or been interrupted leaves nothing behind that later switches have to look at") {
  Job job({.tasks = 2, .bind = false});
  job->set_interrupt_hook(&note_interrupt);
  interrupted_tasks.clear();
  // Only every 16th glance may say no.
  const auto lone = [] { return lone_worker() == 0 || lone_worker() == 0; };
  bool ended = false;
  job.spawn(0, [&] { ended = !sleep_until(kForever); });
  job.spawn(0, [&] {
    CHECK_FALSE(lone());
    interrupt(const_cast<Task&>(job->task(0)));
    while (!ended) yield();
    CHECK(lone());
    CHECK(sleep_until(monotonic_now() + 2 * kMilli));
    CHECK(lone());
    interrupt(const_cast<Task&>(job->task(1)));
    interrupt(const_cast<Task&>(job->task(1)));
    CHECK_FALSE(lone());
    yield();
    CHECK(interrupted_tasks.size() == 1);
    CHECK(lone());
    interrupt(const_cast<Task&>(job->task(0)));  // which has finished
    yield();
    CHECK(lone());
  });
  job.run();
}

TEST_CASE("hold_until keeps the worker, and counts how long others have waited") {
  Job job({.tasks = 2, .bind = false});
  bool second = false;
  std::uint64_t all = 0;
  job.spawn(0, [&] {
    CHECK(has_company());
    const std::uint64_t begin = monotonic_now();
    CHECK(hold_until(begin + 60 * kMilli));
    all = monotonic_now() - begin;
    CHECK_FALSE(second);
  });
  job.spawn(0, [&] {
    second = true;
    CHECK_FALSE(has_company());
    hold_until(monotonic_now() + 60 * kMilli);
  });
  job.run();
  // It begins to count a little later than the test does.
  CHECK(job->held(0) >= 20 * kMilli);
  CHECK(job->held(0) <= all);
}

TEST_CASE("who becomes ready while a task holds the worker is counted from about then on") {
  Job job({.workers = 2, .tasks = 3, .bind = false});
  Event event;
  job.spawn(0, [&] { event.wait(); });
  std::uint64_t completes = 0, held_until = 0;
  job.spawn(0, [&] {
    hold_until(monotonic_now() + 400 * kMilli);
    held_until = monotonic_now();
  });
  job.spawn(1, [&] {
    sleep_until(monotonic_now() + 200 * kMilli);
    completes = monotonic_now();
    event.complete();
  });
  job.run();
  CHECK(job->held(0) > (held_until - completes) / 2);
  CHECK(job->held(0) <= held_until - completes);
  CHECK(job->held(1) == 0);
}

TEST_CASE("a signal ends hold_until") {
  Job job({.tasks = 1, .bind = false});
  struct sigaction action {};
  action.sa_handler = [](int) {};
  struct sigaction before {};
  sigaction(SIGUSR1, &action, &before);
  const pthread_t here = pthread_self();
  std::atomic<bool> over{false};
  job.spawn(0, [&] {
    CHECK_FALSE(hold_until(monotonic_now() + 20'000 * kMilli));
    over = true;
  });
  std::thread other([&] {
    while (!over) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      pthread_kill(here, SIGUSR1);
    }
  });
  job.run();
  other.join();
  sigaction(SIGUSR1, &before, nullptr);
}

}  // namespace
}  // namespace tmpi::sched
