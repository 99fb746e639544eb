#include "launch/node/held_cores.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "launch/control/control.hpp"
#include "launch/node/blocking_call.hpp"
#include "launch/wire/rank_ranges.hpp"
#include "mpi/rank/rank.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::launch {
namespace {

struct Core {
  const sched::Task* running = nullptr;
  std::uint64_t time = 0;  // that its thread has run
};

int rank_of(const sched::Task& task) {
  return static_cast<const mpi::Rank*>(task.owner)->world_rank;
}

// Ranks that could run on the worker of `task`, as for rank_ranges().
std::vector<std::pair<int, int>> ready_beside(const sched::Scheduler& scheduler, const sched::Task& task) {
  std::vector<std::pair<int, int>> ready;
  for (int i = 0; i < scheduler.tasks(); ++i) {
    const sched::Task& other = scheduler.task(i);
    if (other.state.load(std::memory_order_relaxed) == sched::TaskState::kReady &&
        scheduler.worker_of(other) == scheduler.worker_of(task))
      ready.emplace_back(rank_of(other), 1);
  }
  return ready;
}

std::string held_core(const char* advice) {
  static std::vector<Core> before;
  static bool told = false;
  const sched::Scheduler* scheduler = sched::scheduler();
  if (told || scheduler == nullptr) return {};
  before.resize(static_cast<std::size_t>(scheduler->workers()));
  for (int i = 0; i < scheduler->tasks(); ++i) {
    const sched::Task& task = scheduler->task(i);
    if (task.state.load(std::memory_order_relaxed) != sched::TaskState::kRunning) continue;
    const int thread = sched::os_thread_of(task);
    Core& core = before[static_cast<std::size_t>(scheduler->worker_of(task))];
    const Core now{&task, time_run(thread)};
    const bool held = now.time != 0 && core.running == now.running && core.time == now.time;
    core = now;
    if (!held) continue;
    const std::string call = blocking_call(thread);
    const auto ready = ready_beside(*scheduler, task);
    // Who sleeps wakes up.
    if (call.empty() || call == "nanosleep" || ready.empty()) continue;
    told = true;
    return fmt::format(
        "warning: rank {} on host {} has been in {} for {} seconds and holds its core, where {} could run. "
        "If it waits for one of them, the job hangs: {}",
        rank_of(task), mpi::job()->host(), call, Control::kWatchPeriod.count(), rank_ranges(ready), advice);
  }
  return {};
}

}  // namespace

std::string held_core() {
  return held_core("--sleep auto lets them run meanwhile; or give each rank a core (--vratio 1)");
}

std::string held_core_without_hold() {
  return held_core("give each rank a core (--vratio 1), or wait in MPI");
}

}  // namespace tmpi::launch
