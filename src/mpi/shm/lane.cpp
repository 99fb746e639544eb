#include "mpi/shm/lane.hpp"

#include <limits>

#include "mpi/rank/rank.hpp"
#include "mpi/shm/cells.hpp"

namespace tmpi::mpi {

LaneLayout lay_out_lanes(const Group& group) {
  constexpr std::uint16_t kNone = std::numeric_limits<std::uint16_t>::max();
  const sched::Scheduler& scheduler = *sched::scheduler();
  LaneLayout layout;
  layout.members = group.size();
  layout.cell_bytes = cell_limit(group.size());
  layout.lane_of_worker.assign(static_cast<std::size_t>(scheduler.workers()), kNone);
  for (int rank = 0; rank < group.size(); ++rank) {
    const Rank* member = job()->local(group.world_rank(rank));
    if (member == nullptr) {
      layout.nodes = 2;
      continue;
    }
    std::uint16_t& lane = layout.lane_of_worker[static_cast<std::size_t>(scheduler.worker_of(*member->task))];
    if (lane == kNone) {
      lane = static_cast<std::uint16_t>(layout.expected.size());
      layout.expected.push_back(0);
    }
    ++layout.expected[lane];
  }
  return layout;
}

}  // namespace tmpi::mpi
