#include "mpi/tool/activity.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include "mpi/tool/events.hpp"
#include "sched/scheduler.hpp"
#include "timers/clock.hpp"

namespace tmpi::mpi::tool {
namespace {

// Since the beginning a worker has been busy or idle. Written by its thread; odd versions: while it writes.
struct alignas(kCacheLine) WorkerActivity {
  std::atomic<std::uint32_t> version{0};
  Figure since{0};  // begin of the present stretch of running or idling
  Figure busy{0};
  Figure idle{0};
  Figure switches{0};
  std::atomic<bool> running{false};  // a task, in the present stretch
};

struct Account {
  Account(const sched::Scheduler& scheduler, std::uint64_t now)
      : first_tick(now), workers(static_cast<std::size_t>(scheduler.workers())) {
    for (WorkerActivity& worker : workers) worker.since.store(now, std::memory_order_relaxed);
    for (int i = 0; i < scheduler.tasks(); ++i) {
      const sched::Task& task = scheduler.task(i);
      if (task.get_state() == sched::TaskState::kRunning)
        workers[static_cast<std::size_t>(scheduler.worker_of(task))].running.store(true,
                                                                                   std::memory_order_relaxed);
    }
  }
  const std::uint64_t first_tick;
  std::vector<WorkerActivity> workers;
};

// Lives as long as its scheduler, in fact as long as the process: unit tests run one job after another. release,
// acquire.
std::atomic<Account*> the_account{nullptr};
std::atomic<bool> frozen{false};  // relaxed: who freezes waits
std::mutex beginning;
const sched::Scheduler* accounted;  // guarded by `beginning`

// Helper fibers run for a rank beside its own flow of control: they are busy time of the worker, not of the rank.
Rank* rank_of(const sched::Task& task) noexcept {
  auto* const rank = static_cast<Rank*>(task.owner);
  return rank->task == &task ? rank : nullptr;
}

void leave(RankFigures& figures, std::uint64_t first_tick, std::uint64_t now) noexcept {
  if (value_of(figures.started) == 0) figures.started.store(first_tick, std::memory_order_relaxed);
  add_own(figures.waits, 1);
  figures.left.store(now, std::memory_order_relaxed);
}

void arrive(Rank& rank, std::uint64_t now, std::uint64_t idle) noexcept {
  RankFigures& figures = rank.figures;
  if (value_of(figures.started) == 0) {
    figures.started.store(now, std::memory_order_relaxed);
  } else if (const std::uint64_t left = value_of(figures.left); left != 0) {
    const std::uint64_t waited = now - std::min(now, left);
    const std::uint64_t idled = std::min(idle, waited);  // of one that has moved, not the whole of its core's
    add_own(figures.waited, waited);
    add_own(figures.idled, idled);
    if (Events* const events = figures.events.load(std::memory_order_acquire)) [[unlikely]]
      events->on_resumed(rank, waited, idled);
  }
  figures.left.store(0, std::memory_order_relaxed);
}

void on_switch(sched::Task* from, sched::Task* to, std::uint64_t now) noexcept {
  if (frozen.load(std::memory_order_relaxed)) return;
  Account& account = *the_account.load(std::memory_order_acquire);
  WorkerActivity& worker = account.workers[static_cast<std::size_t>(sched::current_worker())];
  const std::uint64_t since = value_of(worker.since);
  // Another worker's clock may be a little ahead of the one that began.
  const std::uint64_t elapsed = now - std::min(now, since);
  const std::uint32_t version = worker.version.load(std::memory_order_relaxed);
  worker.version.store(version + 1, std::memory_order_relaxed);
  // release: who sees one of these sees the odd version too, or a later one.
  const auto add = [](Figure& figure, std::uint64_t more) {
    figure.store(value_of(figure) + more, std::memory_order_release);
  };
  // What the stretch was taken for when it began: in the middle of a job that is seen from outside, and may be wrong.
  add(worker.running.load(std::memory_order_relaxed) ? worker.busy : worker.idle, elapsed);
  if (to != nullptr) add(worker.switches, 1);
  worker.running.store(to != nullptr, std::memory_order_release);
  worker.since.store(now, std::memory_order_release);
  worker.version.store(version + 2, std::memory_order_release);
  if (from != nullptr) {
    if (Rank* const rank = rank_of(*from)) leave(rank->figures, account.first_tick, now);
  }
  if (to != nullptr) {
    if (Rank* const rank = rank_of(*to)) arrive(*rank, now, from != nullptr ? 0 : elapsed);
  }
}

}  // namespace

std::uint64_t account_switches() {
  const std::scoped_lock lock(beginning);
  sched::Scheduler* const scheduler = sched::scheduler();
  if (scheduler == accounted) return the_account.load(std::memory_order_relaxed)->first_tick;
  the_account.store(new Account(*scheduler, timers::now_ticks()), std::memory_order_release);
  accounted = scheduler;
  scheduler->observe_switches(&on_switch);
  return the_account.load(std::memory_order_relaxed)->first_tick;
}

void account_switches_of(Rank& rank) {
  const std::uint64_t begin = account_switches();
  Figure& started = rank.figures.started;
  if (value_of(started) == 0) started.store(begin, std::memory_order_relaxed);
  // Whoever began the account may have seen this worker from outside between two tasks; only a first stretch can be wrong.
  const int worker = sched::current_worker();
  if (worker < 0) return;  // a thread of the rank
  Account& account = *the_account.load(std::memory_order_acquire);
  account.workers[static_cast<std::size_t>(worker)].running.store(true, std::memory_order_release);
}

void freeze_activity() noexcept {
  frozen.store(true, std::memory_order_relaxed);
}

WorkerTimes times_of_worker(int index, std::uint64_t now) noexcept {
  const Account* const account = the_account.load(std::memory_order_acquire);
  if (account == nullptr) return {};
  const WorkerActivity& worker = account->workers[static_cast<std::size_t>(index)];
  for (;;) {
    const std::uint32_t version = worker.version.load(std::memory_order_acquire);
    // acquire: the version is looked at again after these. Pairs with on_switch().
    WorkerTimes times{worker.busy.load(std::memory_order_acquire),
                      worker.idle.load(std::memory_order_acquire),
                      worker.switches.load(std::memory_order_acquire)};
    const std::uint64_t since = worker.since.load(std::memory_order_acquire);
    const bool running = worker.running.load(std::memory_order_acquire);
    if (version % 2 != 0 || worker.version.load(std::memory_order_relaxed) != version) continue;
    (running ? times.busy : times.idle) += now - std::min(now, since);
    return times;
  }
}

RankTimes times_of(const Rank& rank, std::uint64_t now) noexcept {
  const RankFigures& figures = rank.figures;
  const std::uint64_t started = value_of(figures.started), left = value_of(figures.left);
  RankTimes times{0, value_of(figures.waited), value_of(figures.idled)};
  if (started == 0)
    return times;  // it has not been switched since: what it runs counts from the next switch on
  const std::uint64_t end = left != 0 ? left : now;
  times.running = end - std::min(end, started + times.waited);
  return times;
}

}  // namespace tmpi::mpi::tool
