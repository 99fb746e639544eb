// Threads that enter a worker: one at a time, and none of them stops the worker's tasks.
#include <thread>
#include <vector>

#include "sched/test_support.hpp"
#include "sched/thread_task.hpp"

namespace tmpi::sched {
namespace {

using test::Event;
using test::Job;
using test::scaled;

/// What a rank's thread does in a call.
template <class Body>
void as_thread_of(Task& rank, Body&& body) {
  Inside inside(&thread_task(rank));
  body();
}

/// What a task does in a call.
template <class Body>
void as_task(Body&& body) {
  Inside inside(current());
  body();
}

/// A task waits for threads without stopping its worker.
void join(std::vector<std::thread>& threads, Event& all_done) {
  as_task([&] { all_done.wait(); });
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("one thread at a time is inside, and knows task and worker") {
  Job job({.workers = 1, .tasks = 2, .bind = false});
  const int rounds = scaled(20'000);
  int counter = 0;  // no atomic
  int owner = 7;
  Task* first = nullptr;
  auto count = [&] {
    for (int i = 0; i < rounds; ++i) as_task([&] { ++counter; });
  };
  first = &job.spawn(0, [&] {
    scheduler()->admit_threads();
    current()->owner = &owner;
    Event done;
    std::atomic<int> left{3};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        CHECK(current() == nullptr);
        for (int i = 0; i < rounds; ++i) {
          as_thread_of(*first, [&] {
            ++counter;
            as_task([&] { ++counter; });  // nested: already inside
          });
        }
        as_thread_of(*first, [&] {
          CHECK(current() == &thread_task(*first));
          CHECK(current()->owner == &owner);
          CHECK(current_worker() == 0);
        });
        CHECK(current() == nullptr);
        CHECK(current_worker() == -1);
        if (left.fetch_sub(1) == 1) done.complete();
      });
    }
    count();
    join(threads, done);
  });
  job.spawn(0, count);
  job.run();
  CHECK(counter == 3 * 2 * rounds + 2 * rounds);
}

TEST_CASE("threads block and are woken by tasks of their worker, of others, and by each other") {
  for (int workers : {1, 2}) {
    CAPTURE(workers);
    Job job({.workers = workers, .tasks = 2 * workers, .bind = false});
    const int rounds = scaled(2'000);
    constexpr int kThreads = 3;
    struct Pair {
      Event to_thread;
      Event to_task;
    };
    std::vector<Pair> pairs(kThreads);
    std::vector<Event> ring(kThreads);
    Task* first = nullptr;
    // A task of the last worker answers each thread; the threads also pass a token among themselves.
    job.spawn(workers - 1, [&] {
      for (int i = 0; i < rounds; ++i) {
        for (Pair& pair : pairs) {
          as_task([&] {
            pair.to_task.wait();
            pair.to_task.reset();
            pair.to_thread.complete();
          });
        }
      }
    });
    first = &job.spawn(0, [&] {
      scheduler()->admit_threads();
      Event done;
      std::atomic<int> left{kThreads};
      std::vector<std::thread> threads;
      for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
          for (int i = 0; i < rounds; ++i) {
            as_thread_of(*first, [&] {
              Pair& pair = pairs[static_cast<std::size_t>(t)];
              pair.to_task.complete();
              pair.to_thread.wait();
              pair.to_thread.reset();
            });
            as_thread_of(*first, [&] {
              if (t > 0 || i > 0) {
                ring[static_cast<std::size_t>(t)].wait();
                ring[static_cast<std::size_t>(t)].reset();
              }
              ring[static_cast<std::size_t>((t + 1) % kThreads)].complete();
            });
          }
          if (left.fetch_sub(1) == 1) done.complete();
        });
      }
      join(threads, done);
    });
    for (int i = 2; i < 2 * workers; ++i) {
      job.spawn(i % workers, [&] {
        for (int k = 0; k < 10; ++k) as_task([] { yield(); });
      });
    }
    job.run();
  }
}

TEST_CASE("a blocked thread is woken while its worker's own thread stays in user code") {
  Job job({.workers = 2, .tasks = 2, .bind = false});
  Event event;
  Event second;
  std::atomic<bool> woken{false};
  Task* first = nullptr;
  first = &job.spawn(0, [&] {
    scheduler()->admit_threads();
    std::thread thread([&] {
      as_thread_of(*first, [&] { event.wait(); });
      as_thread_of(*first, [&] { second.wait(); });
      woken.store(true);
    });
    thread.join();  // a task that blocks its worker
    CHECK(woken.load());
  });
  job.spawn(1, [&] {
    for (int i = 0; i < 100; ++i) as_task([] { yield(); });
    as_task([&] { event.complete(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    as_task([&] { second.complete(); });
  });
  job.run();
}

TEST_CASE("a thread that makes a task ready wakes the worker that sleeps") {
  Job job({.workers = 1, .tasks = 1, .bind = false, .spin_microseconds = 0});
  Task* first = nullptr;
  first = &job.spawn(0, [&] {
    scheduler()->admit_threads();
    for (int i = 0; i < scaled(200); ++i) {
      Event event;
      std::thread thread([&] {
        if (i % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
        as_thread_of(*first, [&] { event.complete(); });
      });
      as_task([&] { event.wait(); });
      thread.join();
    }
  });
  job.run();
}

TEST_CASE("threads are admitted while other tasks of the worker are blocked inside") {
  Job job({.workers = 1, .tasks = 2, .bind = false});
  Event event;
  Task* first = nullptr;
  int counter = 0;
  job.spawn(0, [&] {
    as_task([&] { event.wait(); });
    for (int i = 0; i < scaled(10'000); ++i) as_task([&] { ++counter; });
  });
  first = &job.spawn(0, [&] {
    as_task([] { yield(); });
    as_task([] { scheduler()->admit_threads(); });
    Event done;
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
      as_thread_of(*first, [&] { event.complete(); });
      for (int i = 0; i < scaled(10'000); ++i) as_thread_of(*first, [&] { ++counter; });
      as_thread_of(*first, [&] { done.complete(); });
    });
    join(threads, done);
  });
  job.run();
  CHECK(counter == 2 * scaled(10'000));
}

}  // namespace
}  // namespace tmpi::sched
