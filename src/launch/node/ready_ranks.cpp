#include "launch/node/ready_ranks.hpp"

#include "mpi/rank/rank.hpp"

namespace tmpi::launch {

std::vector<std::pair<int, int>> ready_ranks(const sched::Scheduler& scheduler, int worker) {
  std::vector<std::pair<int, int>> ready;
  for (int i = 0; i < scheduler.tasks(); ++i) {
    const sched::Task& task = scheduler.task(i);
    if (task.get_state() == sched::TaskState::kReady && scheduler.worker_of(task) == worker)
      ready.emplace_back(static_cast<const mpi::Rank*>(task.owner)->world_rank, 1);
  }
  return ready;
}

}  // namespace tmpi::launch
