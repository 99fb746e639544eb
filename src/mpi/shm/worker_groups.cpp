#include "mpi/shm/worker_groups.hpp"

#include <limits>

#include "mpi/rank/rank.hpp"
#include "mpi/shm/cells.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::mpi {

WorkerGroups group_by_worker(const Group& group) {
  constexpr std::uint16_t kNone = std::numeric_limits<std::uint16_t>::max();
  const sched::Scheduler& scheduler = *sched::scheduler();
  WorkerGroups groups;
  groups.members = group.size();
  groups.cell_bytes = cell_limit(group.size());
  groups.group_of_worker.assign(static_cast<std::size_t>(scheduler.workers()), kNone);
  for (int rank = 0; rank < group.size(); ++rank) {
    const Rank* member = job()->local(group.world_rank(rank));
    if (member == nullptr) {
      groups.nodes = 2;
      continue;
    }
    std::uint16_t& index = groups.group_of_worker[member->task->home];
    if (index == kNone) {
      index = static_cast<std::uint16_t>(groups.sizes.size());
      groups.sizes.push_back(0);
    }
    ++groups.sizes[index];
  }
  return groups;
}

}  // namespace tmpi::mpi
