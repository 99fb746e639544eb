// Workers that sleep are woken by the event source, whichever of them watches it.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "sched/test_support.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {
namespace {

using test::Event;
using test::Job;

// A network of one pipe: what comes out of it is the number of an event that poll() completes.
int g_pipe[2] = {-1, -1};
std::vector<Event>* g_events = nullptr;

bool poll_pipe() noexcept {
  int number;
  if (read(g_pipe[0], &number, sizeof number) != sizeof number) return false;
  (*g_events)[test::index(number)].complete();
  return true;
}

Arming arm_pipe(bool) noexcept {
  return {.fd = g_pipe[0]};
}

void arrive(int event) {
  REQUIRE(write(g_pipe[1], &event, sizeof event) == sizeof event);
}

struct Network {
  explicit Network(int count) : events(test::index(count)) {
    REQUIRE(pipe2(g_pipe, O_NONBLOCK | O_CLOEXEC) == 0);
    g_events = &events;
  }
  ~Network() {
    for (const int fd : g_pipe) close(fd);
  }
  std::vector<Event> events;
};

TEST_CASE("what arrives wakes a sleeping worker at once") {
  constexpr int kEvents = 400;
  for (const int workers : {1, 2, 3}) {
    CAPTURE(workers);
    Job job({.workers = workers, .tasks = 8, .stack_size = 64 * 1024, .bind = false});
    Network network(kEvents);
    job->set_event_source({.poll = &poll_pipe, .arm = &arm_pipe});
    std::atomic<int> woken{0};
    for (int i = 0; i < 8; ++i) {
      job.spawn(i % workers, [&, i] {
        for (int event = i; event < kEvents; event += 8) {
          network.events[static_cast<std::size_t>(event)].wait();
          woken.fetch_add(1);
        }
      });
    }
    std::thread outside([&] {
      for (int event = 0; event < kEvents; ++event) {
        if (event % 50 == 0) usleep(20'000);  // all sleep deeply
        arrive(event);
        while (woken.load() <= event) std::this_thread::yield();
      }
    });
    job.run();
    outside.join();
    CHECK(woken == kEvents);
  }
}

TEST_CASE("tasks that other workers wake, and the network, reach the one that watches") {
  constexpr int kRounds = 2000;
  Job job({.workers = 2, .tasks = 2, .stack_size = 64 * 1024, .bind = false});
  Network network(1);
  job->set_event_source({.poll = &poll_pipe, .arm = &arm_pipe});
  std::vector<Event> there(kRounds), back(kRounds);
  job.spawn(0, [&] {
    for (std::size_t i = 0; i < kRounds; ++i) {
      there[i].complete();
      back[i].wait();
      if (i % 100 == 0) usleep(100);  // the other one falls asleep
    }
    network.events[0].wait();
  });
  job.spawn(1, [&] {
    for (std::size_t i = 0; i < kRounds; ++i) {
      there[i].wait();
      if (i % 100 == 50) usleep(100);
      back[i].complete();
    }
  });
  std::thread outside([&] {
    usleep(100'000);
    arrive(0);
  });
  job.run();
  outside.join();
  CHECK(network.events[0].done());
}

TEST_CASE("when the watcher goes to work another sleeper watches") {
  Job job({.workers = 2, .tasks = 2, .stack_size = 64 * 1024, .bind = false});
  Network network(2);
  job->set_event_source({.poll = &poll_pipe, .arm = &arm_pipe});
  std::atomic<bool> working{false}, second{false};
  std::atomic<bool> in_time{false};
  for (int worker = 0; worker < 2; ++worker) {
    job.spawn(worker, [&, worker] {
      network.events[static_cast<std::size_t>(worker)].wait();
      if (worker == 0) {
        working = true;
        // Computes until the other one has been served, which only a watcher can do; gives up in the end.
        const double start = timers::wtime();
        while (!second && timers::wtime() - start < 100) {
        }
        in_time = second.load();
      } else {
        second = true;
      }
    });
  }
  std::thread outside([&] {
    usleep(50'000);
    arrive(0);
    while (!working) usleep(100);
    usleep(50'000);
    arrive(1);
  });
  job.run();
  outside.join();
  CHECK(in_time);
}

TEST_CASE("a stall is noticed with an event source too") {
  static std::atomic<int> stalls;
  stalls = 0;
  Job job({.workers = 2, .tasks = 2, .stack_size = 64 * 1024, .bind = false});
  Network network(2);
  job->set_event_source({.poll = &poll_pipe, .arm = &arm_pipe});
  job->set_stall_hook([]() noexcept { stalls.fetch_add(1); });
  for (int worker = 0; worker < 2; ++worker)
    job.spawn(worker, [&, worker] { network.events[static_cast<std::size_t>(worker)].wait(); });
  std::thread outside([&] {
    for (int i = 0; i < 10'000 && stalls == 0; ++i) usleep(10'000);
    arrive(0);
    arrive(1);
  });
  job.run();
  outside.join();
  CHECK(stalls > 0);
}

}  // namespace
}  // namespace tmpi::sched
