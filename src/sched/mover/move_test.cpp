#include "sched/move.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/platform.hpp"
#include "sched/balances.hpp"
#include "sched/helper.hpp"
#include "sched/loop/task_table.hpp"
#include "sched/mover/assignment.hpp"
#include "sched/mover/follow.hpp"
#include "sched/mover/move_test_support.hpp"
#include "sched/sleep.hpp"
#include "sched/test_support.hpp"
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

// Where errno is may be kept across a call (docs/design/load-balance.md).
__attribute__((noinline)) void set_errno(int value) {
  errno = value;
}
__attribute__((noinline)) int get_errno() {
  return errno;
}

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

TEST_CASE("a task stays while what its worker's tasks have left with others cannot be delivered") {
  Job job(moving("manual", 2, 1));
  static bool possible;
  possible = false;
  job->set_move_hooks({.deliver = [](int) noexcept { return possible; }});
  job.spawn(0, [] {
    CHECK(move_to(1) == Moved::kNoMemory);
    CHECK(current_worker() == 0);
    possible = true;
    CHECK(move_to(1) == Moved::kYes);
    CHECK(current_worker() == 1);
  });
  job.run();
}

TEST_CASE("a later plan's word is not forgotten while a task goes where an older one wants it") {
  Job job(moving("manual", 3, 2));
  static Task* moves;
  static int later;
  later = -1;
  // A plan that is made while the task is about to leave.
  job->set_move_hooks({.deliver = [](int) noexcept {
    if (later >= 0) moves->moving->target = std::exchange(later, -1);
    return true;
  }});
  Event events[3];
  std::atomic<int> waits{0};
  const auto wait = [&](int i) {
    waits = i + 1;
    events[i].wait();
  };
  job.spawn(0, [&] {
    Moving& moving = *current()->moving;
    moves = current();
    moving.assigned = 2;
    moving.target = 1;
    later = 2;
    wait(0);
    CHECK(current_worker() == 1);
    CHECK(moving.assigned == 2);
    CHECK(moving.target == 2);
    wait(1);
    CHECK(current_worker() == 2);
    CHECK(moving.target == -1);
    // What it wants itself is later than all plans.
    moving.target = 1;
    CHECK(move_to(0) == Moved::kYes);
    CHECK(moving.assigned == 0);
    CHECK(moving.target == -1);
    wait(2);
    CHECK(current_worker() == 0);
  });
  job.spawn(2, [&] {
    for (int i = 0; i < 3; ++i) {
      while (waits <= i || moves->get_state() != TaskState::kBlocked) yield();
      events[i].complete();
    }
  });
  job.run();
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

TEST_CASE("tasks that are added later are balanced with the others" * doctest::test_suite("timing")) {
  Job job(moving("refine:period=1", 2, 1));
  Together together(6);
  std::atomic<int> on_second{0};
  const std::function<void()> steps = [&] {
    for (int step = 0; step < 8; ++step) {
      compute(1e-3);
      together.arrive(true);
    }
    on_second += current_worker() == 1;
  };
  job.spawn(0, [&] {
    const Scheduler::NewTask there{
        .worker = 0,
        .entry = [](void* body) { (*static_cast<std::function<void()>*>(body))(); },
        .argument = const_cast<std::function<void()>*>(&steps),
        .owner = nullptr};
    const Result<int> added = job->add(std::vector<Scheduler::NewTask>(5, there));
    REQUIRE(added);
    for (int i = 0; i < 5; ++i) job->start(job->task(*added + i));
    steps();
  });
  job.run();
  CHECK(on_second >= 1);
  CHECK(on_second <= 5);
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
    assign(changed, {.open = open, .nodes = {}, .links = {}});
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
  const Surroundings around{.open = two, .nodes = {}, .links = {}};
  assign_refine(halves, around);
  CHECK(largest(halves, around) == 40);
  // Nothing to gain: nothing moves.
  std::vector<Load> even = {{.time = 3, .worker = 0}, {.time = 3, .worker = 1}};
  assign_refine(even, around);
  CHECK(even[0].worker == 0);
  CHECK(even[1].worker == 1);
}

TEST_CASE("refine keeps together who talks much, and memory and its task") {
  const std::vector<char> two = {1, 1};
  const auto on = [](const std::vector<Load>& loads) {
    std::vector<int> workers;
    for (const Load& load : loads) workers.push_back(load.worker);
    return workers;
  };
  // Of two pairs one goes, whichever order they stand in.
  for (const int partner : {1, 2, 3}) {
    CAPTURE(partner);
    std::vector<Load> loads(4, Load{.time = 1});
    const int other = partner == 1 ? 2 : 1;
    const std::vector<Link> links = {{0, partner, 0.2}, {other, 6 - partner - other, 0.2}};
    const Surroundings around{.open = two, .nodes = {}, .links = links};
    assign_refine(loads, around);
    CHECK(largest(loads, around) == doctest::Approx(2));
    CHECK(loads[0].worker == loads[static_cast<std::size_t>(partner)].worker);
    CHECK(loads[0].worker != loads[static_cast<std::size_t>(other)].worker);
  }
  // What would cost more messages than it gains stays.
  std::vector<Load> talking(2, Load{.time = 1});
  const std::vector<Link> much = {{0, 1, 1.2}};
  assign_refine(talking, {.open = two, .nodes = {}, .links = much});
  CHECK(on(talking) == std::vector{0, 0});
  assign_refine(talking, {.open = two, .nodes = {}, .links = {}});
  CHECK(on(talking) != std::vector{0, 0});
  // Two that take each other's place, and send each other messages before and after.
  std::vector<Load> apart = {{.time = 3, .worker = 0}, {.time = 3, .worker = 0}, {.time = 2, .worker = 1}};
  const std::vector<Link> between = {{1, 2, 0.1}};
  const Surroundings around{.open = two, .nodes = {}, .links = between};
  const double before = largest(apart, around);
  assign_refine(apart, around);
  CHECK(largest(apart, around) <= before);
  // Across NUMA nodes messages cost more, so the same is not worth it any more.
  const std::vector<int> nodes = {0, 1};
  const std::vector<Link> some = {{0, 1, 0.7}};
  std::vector<Load> near(2, Load{.time = 1}), far = near;
  assign_refine(near, {.open = two, .nodes = {}, .links = some});
  assign_refine(far, {.open = two, .nodes = nodes, .links = some});
  CHECK(on(near) != std::vector{0, 0});
  CHECK(on(far) == std::vector{0, 0});
  // The one whose memory is there goes.
  std::vector<Load> owners = {{.time = 1, .memory_node = 0}, {.time = 1, .memory_node = 1}};
  assign_refine(owners, {.open = two, .nodes = nodes, .links = {}});
  CHECK(on(owners) == std::vector{0, 1});
}

TEST_CASE("the peers of a task that count most are known") {
  Peers peers;
  for (int round = 0; round < 100; ++round) {
    peers.add(7, 300);
    peers.add(static_cast<std::uint32_t>(20 + round), 1);
    peers.add(3, 500);
  }
  std::uint64_t of_three = 0, of_seven = 0, all = 0;
  const auto take = [&](std::uint32_t task, std::uint64_t cost) {
    (task == 3 ? of_three : task == 7 ? of_seven : all) += cost;
  };
  peers.take(take);
  CHECK(of_three == 50000);
  CHECK(of_seven == 30000);
  CHECK(all == 100);
  peers.take(take);
  CHECK(of_three == 50000);
}

// Where a task's memory has been moved to, instead of the kernel's doing it.
struct MovedMemory {
  const void* begin;
  std::size_t bytes;
  int node;
};
std::vector<MovedMemory> g_moved_memory;
std::mutex g_moved_mutex;

bool note_moved(std::span<void*> pages, std::span<const int> nodes) noexcept {
  const std::lock_guard guard(g_moved_mutex);
  for (std::size_t i = 0; i < pages.size(); ++i) {
    if (i > 0 && pages[i] == static_cast<char*>(pages[i - 1]) + kPageSize && nodes[i] == nodes[i - 1]) {
      g_moved_memory.back().bytes += kPageSize;
    } else {
      g_moved_memory.push_back({pages[i], kPageSize, nodes[i]});
    }
  }
  return true;
}

TEST_CASE("memory follows a task that stays on another NUMA node") {
  g_moved_memory.clear();
  Options options = moving("manual", 2, 2);
  options.numa_nodes = {0, 1};
  options.move_memory = note_moved;
  Job job(options);
  alignas(kPageSize) static char own[kPageSize];
  job->set_memory_hook(
      [](const Task&, UseMemory use, void* context) noexcept { use(context, own, sizeof own); });
  Together together(2);
  const void* stack = nullptr;
  std::size_t moved = 0, later = 0;
  const auto steps = [&](double seconds) {
    for (int i = 0; i < 8; ++i) {
      compute(seconds / 8);
      together.arrive();
    }
  };
  job.spawn(0, [&] {
    stack = current()->stack.base;
    move_to(1);
    steps(20e-3);
    moved = g_moved_memory.size();
    steps(20e-3);
    later = g_moved_memory.size();
  });
  job.spawn(0, [&] {
    for (int i = 0; i < 2; ++i) steps(0);
  });
  job.run();
  REQUIRE(moved >= 2);
  CHECK(later <= 4);  // what was in use is moved at a second look
  const MovedMemory& first = g_moved_memory[0];
  CHECK(first.node == 1);
  CHECK(first.begin == stack);
  CHECK(g_moved_memory[1].begin == own);
}

TEST_CASE(
    "memory follows who stays, some at a time, and neither who is away for short nor who has been taken") {
  g_moved_memory.clear();
  // The workers are real, the time and the task are not.
  Job job(moving("manual", 2, 1));
  job.spawn(0, [] {
    RunLoop* workers[2] = {this_loop(), nullptr};
    move_to(1);
    workers[1] = this_loop();
    TaskTable table;
    table.let_move();
    REQUIRE(table.add({.count = 1, .size = 64 * 1024}));
    table.let_move();
    Task& task = table.at(0);
    task.set_state(TaskState::kRunning);
    constexpr std::size_t kOwn = std::size_t{5} << 20, kMegabyte = std::size_t{1} << 20;
    Follower follower(table, {0, 1}, note_moved);
    follower.set_hook([](const Task&, UseMemory use, void* context) noexcept {
      use(context, reinterpret_cast<void*>(kOwn), kOwn);
    });
    std::uint64_t now = timers::ticks(1.0);
    const auto look = [&](int worker, int times) {
      task.worker = workers[worker];
      std::size_t most = 0;
      for (int i = 0; i < times; ++i) {
        const std::size_t before = g_moved_memory.size();
        now += timers::ticks(2.5e-3);
        CHECK(follower.look(now));
        CHECK(!follower.look(now));
        std::size_t bytes = 0;
        for (std::size_t at = before; at < g_moved_memory.size(); ++at) bytes += g_moved_memory[at].bytes;
        most = std::max(most, bytes);
      }
      return most;
    };
    // Away for short.
    for (int round = 0; round < 30; ++round) {
      look(0, 1);
      look(1, 2);
    }
    CHECK(g_moved_memory.empty());
    // Taken by an idle worker, over and over.
    task.moving->target = 0;
    look(1, 100);
    CHECK(g_moved_memory.empty());
    task.moving->target = -1;
    // The time that it runs on and on is counted once: 15 ms and more would be enough.
    const auto account = [&](double seconds) {
      task.moving->spent.store(task.moving->spent.load() + timers::ticks(seconds));
    };
    look(0, 1);
    look(1, 1);
    for (int round = 0; round < 5; ++round) {
      look(1, 1);
      account(2.5e-3);
      look(1, 1);
    }
    CHECK(g_moved_memory.empty());
    // And no more of it than it can have run if nobody has looked for long.
    look(0, 1);
    look(1, 1);
    now += timers::ticks(1.0);
    look(1, 1);
    CHECK(g_moved_memory.empty());
    // It stays.
    CHECK(look(1, 100) == kMegabyte);
    CHECK(task.moving->memory_node == 1);
    std::size_t sum = 0, next = kOwn;
    int passes = 0;
    for (const MovedMemory& moved : g_moved_memory) {
      CHECK(moved.node == 1);
      sum += moved.bytes;
      if (moved.begin == reinterpret_cast<void*>(kOwn)) next = kOwn, ++passes;
      CHECK(moved.begin == reinterpret_cast<void*>(next));
      next += moved.bytes;
    }
    CHECK(passes == 2);
    CHECK(sum == 2 * kOwn);
    // It leaves again before all has been moved: the rest follows where it stays at last.
    g_moved_memory.clear();
    while (g_moved_memory.empty()) look(0, 1);
    look(1, 1);
    CHECK(g_moved_memory.size() == 1);
    look(0, 20);
    CHECK(g_moved_memory.size() == 2 * kOwn / kMegabyte);
    g_moved_memory.clear();
  });
  job.run();
}

TEST_CASE("the kernel moves memory between nodes, or says that there is no such node") {
  std::vector<char> memory(200'000, 1);
  void* pages[] = {memory.data() + kPageSize, memory.data() + 2 * kPageSize};
  for (void*& page : pages)
    page = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(page) & ~std::uintptr_t{kPageSize - 1});
  CHECK(move_by_kernel(pages, std::vector{0, 0}));
  CHECK(!move_by_kernel(pages, std::vector{0, 1000}));
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
