// Microbenchmarks of src/ult, src/sched and src/timers: what a switch, a yield, a wake-up and a time stamp
// cost.
//
//     bench_sched [FILTER]     lines whose name contains FILTER; ns per operation, median and least of
//                              several repetitions
#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sched/machine/topology.hpp"
#include "sched/scheduler.hpp"
#include "sched/waiter.hpp"
#include "timers/clock.hpp"
#include "ult/stack_arena.hpp"
#include "ult/switch.hpp"

namespace {

namespace sched = tmpi::sched;
namespace timers = tmpi::timers;
namespace ult = tmpi::ult;

constexpr int kRepetitions = 41;

/// A ring of fibers, each switching to the next: the bare switch.
class Ring {
 public:
  explicit Ring(int count) : links_(static_cast<std::size_t>(count)) {
    auto arena = ult::StackArena::create({.count = count, .size = 64 * 1024});
    if (!arena) std::abort();
    arena_ = *std::move(arena);
    ult::attach(thread_, main_);
    for (int i = 0; i < count; ++i) {
      Link& link = links_[static_cast<std::size_t>(i)];
      link.stack = arena_->stack(i);
      link.ring = this;
      link.next = &links_[static_cast<std::size_t>((i + 1) % count)];
      ult::prepare(link, [](ult::Fiber& self) noexcept { static_cast<Link&>(self).turn(); });
    }
  }
  /// `switches` switches around the ring, then back here.
  void run(long switches) {
    left_ = switches;
    ult::switch_to(thread_, main_, *at_);
  }

 private:
  struct Link : ult::Fiber {
    Ring* ring = nullptr;
    Link* next = nullptr;
    [[noreturn]] void turn() {
      for (;;) {
        if (--ring->left_ > 0) {
          ult::switch_to(ring->thread_, *this, *next);
        } else {
          ring->at_ = this;
          ult::switch_to(ring->thread_, *this, ring->main_);
        }
      }
    }
  };
  std::unique_ptr<ult::StackArena> arena_;
  ult::Thread thread_;
  ult::Fiber main_;
  std::vector<Link> links_;
  Link* at_ = links_.data();
  long left_ = 0;
};

/// ns per operation of `operations` done by one call of `body`, over the repetitions.
std::vector<double> repeat(long operations, const std::function<void()>& body) {
  std::vector<double> results;
  body();  // warm-up
  for (int i = 0; i < kRepetitions; ++i) {
    const std::uint64_t start = timers::now_ticks();
    body();
    results.push_back(timers::seconds(timers::now_ticks() - start) * 1e9 / static_cast<double>(operations));
  }
  return results;
}

std::vector<double> bare_switch(int fibers) {
  Ring ring(fibers);
  constexpr long kSwitches = 100'000;
  return repeat(kSwitches, [&] { ring.run(kSwitches); });
}

/// A network on which nothing arrives: what a look at it costs is a system call.
sched::EventSource silent_network() {
  static const int epoll = epoll_create1(EPOLL_CLOEXEC);
  static const std::atomic<int> expected{0};
  return {.poll =
              []() noexcept {
                epoll_event event;
                return epoll_wait(epoll, &event, 1, 0) > 0;
              },
          .arm = [](bool) noexcept { return tmpi::Arming{.fd = epoll}; },
          .expected = &expected};
}

/// Runs one function per task under a scheduler.
void run_tasks(const sched::Options& options, const std::vector<std::function<void()>>& bodies,
               bool network = false) {
  auto scheduler = sched::Scheduler::create(options);
  if (!scheduler) {
    fmt::print(stderr, "{}\n", scheduler.message());
    std::exit(1);
  }
  if (network) (*scheduler)->set_event_source(silent_network());
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    (*scheduler)
        ->spawn(
            static_cast<int>(i % static_cast<std::size_t>(options.workers)),
            [](void* body) { (*static_cast<const std::function<void()>*>(body))(); },
            const_cast<std::function<void()>*>(&bodies[i]), nullptr);
  }
  (*scheduler)->run();
}

std::vector<double> yield_among(int tasks, const char* policy, bool network = false) {
  const long turns = 100'000 / tasks;
  bool stop = false;
  std::vector<double> results;
  std::vector<std::function<void()>> bodies(static_cast<std::size_t>(tasks), [&] {
    while (!stop) sched::yield();
  });
  bodies[0] = [&] {
    results = repeat(turns * tasks, [&] {
      for (long i = 0; i < turns; ++i) sched::yield();
    });
    stop = true;
  };
  run_tasks({.tasks = tasks, .stack_size = 64 * 1024, .policy = policy}, bodies, network);
  return results;
}

/// What the MPI layer does to wait: an operation is pending, done, or has somebody to tell.
class Event {
 public:
  void complete() {
    const auto old = state_.exchange(1, std::memory_order_acq_rel);
    if (old != 0) reinterpret_cast<sched::Waiter*>(old)->complete();
  }
  void wait() {
    sched::Waiter waiter(1);
    std::uintptr_t expected = 0;
    if (state_.compare_exchange_strong(expected, reinterpret_cast<std::uintptr_t>(&waiter),
                                       std::memory_order_acq_rel))
      waiter.wait();
    state_.store(0, std::memory_order_relaxed);
  }

 private:
  alignas(64) std::atomic<std::uintptr_t> state_{0};
};

/// One way: half of "wake the other, block until woken".
std::vector<double> ping_pong(int workers, int spin_microseconds, long rounds, long pairs = 1) {
  std::vector<Event> events(static_cast<std::size_t>(2 * pairs));
  std::vector<double> results;
  std::vector<std::function<void()>> bodies;
  for (long pair = 0; pair < pairs; ++pair) {
    Event& ping = events[static_cast<std::size_t>(2 * pair)];
    Event& pong = events[static_cast<std::size_t>(2 * pair + 1)];
    const auto client = [&ping, &pong, rounds] {
      for (long i = 0; i < rounds; ++i) {
        ping.complete();
        pong.wait();
      }
    };
    bodies.emplace_back([&results, client, pair, rounds, pairs] {
      if (pair == 0) {
        results = repeat(2 * rounds * pairs, client);
      } else {
        for (int i = 0; i <= kRepetitions; ++i) client();
      }
    });
    bodies.emplace_back([&ping, &pong, rounds] {
      for (long i = 0; i < (kRepetitions + 1) * rounds; ++i) {
        ping.wait();
        pong.complete();
      }
    });
  }
  const auto tasks = static_cast<int>(bodies.size());
  run_tasks(
      {.workers = workers, .tasks = tasks, .stack_size = 64 * 1024, .spin_microseconds = spin_microseconds},
      bodies);
  return results;
}

std::vector<double> start_and_end(int tasks) {
  std::vector<std::function<void()>> bodies(static_cast<std::size_t>(tasks), [] { sched::yield(); });
  return repeat(
      tasks, [&] { run_tasks({.workers = std::min(sched::available_cores(), 2), .tasks = tasks}, bodies); });
}

volatile double g_sink;

std::vector<double> clock_cost(double (*read)()) {
  constexpr long kReads = 100'000;
  return repeat(kReads, [read] {
    for (long i = 0; i < kReads; ++i) g_sink = read();
  });
}

struct Benchmark {
  const char* name;
  std::function<std::vector<double>()> run;
};

const std::vector<Benchmark>& benchmarks() {
  static const std::vector<Benchmark> table{
      {"switch, 2 fibers", [] { return bare_switch(2); }},
      {"switch, 1000 fibers", [] { return bare_switch(1000); }},
      {"switch, 10000 fibers", [] { return bare_switch(10000); }},
      {"yield, 2 tasks", [] { return yield_among(2, "fifo"); }},
      {"yield, 2 tasks, with a silent network", [] { return yield_among(2, "fifo", true); }},
      {"yield, 1000 tasks", [] { return yield_among(1000, "fifo"); }},
      {"yield, 1000 tasks, lifo", [] { return yield_among(1000, "lifo"); }},
      {"yield, 1000 tasks, random", [] { return yield_among(1000, "random:1"); }},
      {"block and wake, same worker, 1 pair", [] { return ping_pong(1, 50, 10'000); }},
      {"block and wake, same worker, 500 pairs", [] { return ping_pong(1, 50, 20, 500); }},
      {"wake across workers, spinning", [] { return ping_pong(2, 1000, 1'000); }},
      {"wake across workers, asleep", [] { return ping_pong(2, 0, 200); }},
      {"spawn, run, end, 1000 tasks", [] { return start_and_end(1000); }},
      {"spawn, run, end, 10000 tasks", [] { return start_and_end(10000); }},
      {"now_ticks", [] { return clock_cost([] { return static_cast<double>(timers::now_ticks()); }); }},
      {"wtime", [] { return clock_cost(timers::wtime); }},
  };
  return table;
}

}  // namespace

int main(int argc, char** argv) {
  timers::calibrate();
  const timers::Description clock = timers::describe();
  fmt::print("clock: {} ({:.3f} MHz)\n{:<42}{:>12}{:>12}\n", clock.method, clock.hertz / 1e6,
             "ns per operation", "median", "least");
  for (const Benchmark& benchmark : benchmarks()) {
    if (argc > 1 && std::strstr(benchmark.name, argv[1]) == nullptr) continue;
    std::vector<double> results = benchmark.run();
    std::sort(results.begin(), results.end());
    fmt::print("{:<42}{:>12.1f}{:>12.1f}\n", benchmark.name, results[results.size() / 2], results.front());
  }
}
