#include "launch/node/held_cores.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "launch/control/control.hpp"
#include "launch/node/blocking_call.hpp"
#include "launch/node/ready_ranks.hpp"
#include "launch/wire/rank_ranges.hpp"
#include "mpi/rank/rank.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::launch {
namespace {

struct Core {
  const sched::Task* running = nullptr;
  std::uint64_t time = 0;  // that its thread has run
};

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
    const auto ready = ready_ranks(*scheduler, scheduler->worker_of(task));
    // Who sleeps wakes up.
    if (call.empty() || call == "nanosleep" || ready.empty()) continue;
    told = true;
    return fmt::format(
        "warning: rank {} on host {} has been in {} for {} seconds and holds its core, where {} could run. "
        "If it waits for one of them, the job hangs: {}",
        static_cast<const mpi::Rank*>(task.owner)->world_rank, mpi::job()->host(), call,
        Control::kWatchPeriod.count(), rank_ranges(ready), advice);
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
