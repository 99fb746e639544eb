// Progress threads: they look at the event source while every worker computes, and only then.
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "sched/helper.hpp"
#include "sched/machine/wake_up_cost.hpp"
#include "sched/task.hpp"
#include "sched/test_support.hpp"
#include "sched/thread_task.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {
namespace {

using test::Event;
using test::Job;

// A network of one pipe: each byte completes the event.
int g_pipe[2] = {-1, -1};
Event* g_event = nullptr;
std::atomic<int> g_expected{0};

bool poll_pipe() noexcept {
  char byte;
  if (read(g_pipe[0], &byte, 1) != 1) return false;
  g_event->complete();
  return true;
}

Arming arm_pipe(bool) noexcept {
  return {.fd = g_pipe[0]};
}

struct Network {
  Network() {
    REQUIRE(pipe2(g_pipe, O_NONBLOCK | O_CLOEXEC) == 0);
    g_event = &event;
    g_expected = 0;
  }
  ~Network() {
    for (const int fd : g_pipe) close(fd);
  }
  static void arrive() { REQUIRE(write(g_pipe[1], "x", 1) == 1); }
  Event event;
};

const EventSource kSource{.poll = &poll_pipe, .arm = &arm_pipe, .expected = &g_expected};

void expect_one() {
  g_expected.fetch_add(1, std::memory_order_seq_cst);
  call_progress();
}

void compute_for(double seconds) {
  for (const double start = timers::wtime(); timers::wtime() - start < seconds;) {
  }
}

// Computes until the event is done; false if that is never.
bool compute_until(const Event& event, double seconds = 100) {
  const double start = timers::wtime();
  while (!event.done() && timers::wtime() - start < seconds) {
  }
  return event.done();
}

// Of the sleeping progress thread, from /proc: `entry`, a number in `base`; -1 if there is none.
long status_of_thread(const std::string& key, int base) {
  long count = -1;
  DIR* tasks = opendir("/proc/self/task");
  REQUIRE(tasks != nullptr);
  while (const dirent* entry = readdir(tasks)) {
    const std::string path = std::string("/proc/self/task/") + entry->d_name;
    std::string name, word;
    std::getline(std::ifstream(path + "/comm") >> std::ws, name);
    if (name != "tmpi-progress") continue;
    std::ifstream status(path + "/status");
    while (status >> word) {
      if (word == key && status >> word) count = static_cast<long>(std::stoull(word, nullptr, base));
    }
  }
  closedir(tasks);
  return count;
}

// How often it has been woken.
long wake_ups() {
  return status_of_thread("voluntary_ctxt_switches:", 10);
}

TEST_CASE("what arrives while all workers compute is taken in at once") {
  for (const Progress mode : {Progress::kThread, Progress::kCore}) {
    for (const int workers : {1, 2}) {
      CAPTURE(static_cast<int>(mode));
      CAPTURE(workers);
      Job job(
          {.workers = workers, .tasks = workers, .stack_size = 64 * 1024, .bind = false, .progress = mode});
      Network network;
      job->set_event_source(kSource);
      std::atomic<bool> in_time{false}, going{false};
      job.spawn(0, [&] {
        for (int i = 0; i < 5; ++i) {
          network.event.reset();
          expect_one();
          going = true;
          in_time = compute_until(network.event);
          --g_expected;
          compute_for(0.002);
        }
      });
      if (workers == 2) job.spawn(1, [&] { compute_until(network.event); });
      std::thread outside([&] {
        for (int i = 0; i < 5; ++i) {
          while (!going.exchange(false)) usleep(100);
          network.arrive();
        }
      });
      job.run();
      outside.join();
      CHECK(in_time);
      REQUIRE(job->progress_bindings().size() == 1);
      const bool sleeps = job->progress_bindings()[0].find("sleeps") != std::string::npos;
      CHECK(job->progress_spins() == !sleeps);  // kCore, where there are enough
      CHECK_FALSE(single_worker());
    }
  }
}

TEST_CASE("without progress threads nobody looks while all compute") {
  Job job({.workers = 1, .tasks = 1, .stack_size = 64 * 1024, .bind = false});
  Network network;
  job->set_event_source(kSource);
  bool taken_in = true;
  job.spawn(0, [&] {
    expect_one();
    network.arrive();
    taken_in = compute_until(network.event, 0.05);
    network.event.wait();
  });
  job.run();
  CHECK_FALSE(taken_in);
  CHECK(network.event.done());
  CHECK(job->progress_bindings().empty());
  CHECK_FALSE(job->progress_spins());
  CHECK(single_worker());
}

TEST_CASE("nothing wakes a progress thread while nothing is expected, or everybody sleeps") {
  Job job({.workers = 1, .tasks = 1, .stack_size = 64 * 1024, .bind = false, .progress = Progress::kThread});
  Network network;
  job->set_event_source(kSource);
  long computing = -1, watching = -1;
  std::atomic<bool> asleep{false};
  job.spawn(0, [&] {
    compute_for(0.1);  // it has seen that nothing happens
    const long before = wake_ups();
    compute_for(0.3);
    computing = wake_ups() - before;
    // Something is expected, and the worker itself sleeps.
    expect_one();
    asleep = true;
    network.event.wait();
  });
  std::thread outside([&] {
    while (!asleep) usleep(100);
    usleep(200'000);
    const long before = wake_ups();
    REQUIRE(before >= 0);
    usleep(300'000);
    watching = wake_ups() - before;
    network.arrive();
  });
  job.run();
  outside.join();
  CHECK(computing == 0);
  CHECK(watching == 0);
}

TEST_CASE("what a wake-up costs who computes is measured, and the caller keeps its cores") {
  timers::calibrate();
  cpu_set_t before, after;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  const double cost = wake_up_cost();
  REQUIRE(sched_getaffinity(0, sizeof after, &after) == 0);
  CHECK(CPU_EQUAL(&before, &after));
  CHECK(cost >= 0);  // 0: others had the core all the time
  CHECK(cost < 5e-3);
}

TEST_CASE("a progress thread takes no signal from the ranks") {
  Job job({.workers = 1, .tasks = 1, .stack_size = 64 * 1024, .bind = false, .progress = Progress::kThread});
  Network network;
  job->set_event_source(kSource);
  const auto blocked = [] { return status_of_thread("SigBlk:", 16); };
  job.spawn(0, [&] {
    CHECK((blocked() & 1 << (SIGTERM - 1)) != 0);
    CHECK((blocked() & 1 << (SIGALRM - 1)) != 0);
  });
  job.run();
}

// Work for a helper fiber: two waits for the network, one after the other, and a look at who does it.
struct Chain {
  Network network;
  Event first, second;
  std::atomic<int> steps{0};
  std::atomic<pid_t> last_thread{0};
  bool calls_user = false;
  int arrivals = 0;

  void arrive() {
    ++arrivals;
    Network::arrive();
  }
  static void run(void* self) { static_cast<Chain*>(self)->work(); }
  void work() {
    if (calls_user) stay_on_worker(true);
    for (Event* event : {&first, &second}) {
      expect_one();
      event->wait();
      --g_expected;
      last_thread = gettid();
      g_event = &second;
      ++steps;
    }
  }
  // Computes until that many steps have been made.
  bool reaches(int wanted, double seconds) {
    const double start = timers::wtime();
    while (steps < wanted && timers::wtime() - start < seconds) {
    }
    return steps >= wanted;
  }
};

// A rank starts it as a call into the library does, and computes; `body(chain)`.
template <class Body>
void start_and_compute(Progress mode, bool calls_user, Body&& body) {
  Job job({.workers = 1, .tasks = 2, .stack_size = 64 * 1024, .bind = false, .progress = mode});
  Chain chain;
  chain.calls_user = calls_user;
  g_event = &chain.first;
  job->set_event_source(kSource);
  job.spawn(0, [&] {
    {
      const Inside inside(current());
      CHECK(run_helper(&Chain::run, &chain));
    }
    body(chain);
    const Inside inside(current());
    for (; chain.steps < 2; yield()) {
      if (chain.steps == chain.arrivals) chain.arrive();
    }
  });
  job.spawn(0, [&] {
    const Inside inside(current());
    while (chain.steps < 2) yield();
  });
  job.run();
  CHECK(chain.steps == 2);
}

TEST_CASE("helper fibers take their next steps while their worker computes") {
  for (const Progress mode : {Progress::kThread, Progress::kCore}) {
    for (int i = 0; i < 20; ++i) {
      start_and_compute(mode, false, [&](Chain& chain) {
        chain.arrive();
        REQUIRE(chain.reaches(1, 20));
        CHECK(chain.last_thread != gettid());
        if (i % 2 == 0) usleep(300);
        chain.arrive();
        REQUIRE(chain.reaches(2, 20));
        CHECK(chain.last_thread != gettid());
      });
    }
  }
}

TEST_CASE(
    "helper fibers that call the user's functions, and all without progress beside the workers, wait for "
    "those") {
  for (const Progress mode : {Progress::kThread, Progress::kPoll}) {
    start_and_compute(mode, true, [&](Chain& chain) {
      chain.arrive();
      CHECK_FALSE(chain.reaches(1, 0.03));
    });
  }
}

TEST_CASE("workers that fall asleep while the progress thread watches are woken, and a stall is noticed") {
  static std::atomic<int> stalls;
  stalls = 0;
  Job job({.workers = 1, .tasks = 1, .stack_size = 64 * 1024, .bind = false, .progress = Progress::kThread});
  Network network;
  job->set_event_source(kSource);
  job->set_stall_hook([]() noexcept { stalls.fetch_add(1); });
  bool seen = false;
  job.spawn(0, [&] {
    for (int i = 0; i < 20; ++i) {
      network.event.reset();
      expect_one();
      compute_for(0.0005 * i);  // before, while and after the thread begins to watch
      std::thread([] {
        usleep(2000);
        Network::arrive();
      }).detach();
      network.event.wait();
      --g_expected;
    }
    network.event.reset();
    expect_one();
    compute_for(0.02);
    std::thread([] {
      for (int i = 0; i < 10'000 && stalls == 0; ++i) usleep(10'000);
      Network::arrive();
    }).detach();
    network.event.wait();
    seen = stalls > 0;
  });
  job.run();
  CHECK(seen);
}

}  // namespace
}  // namespace tmpi::sched
