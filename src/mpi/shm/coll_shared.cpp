#include "mpi/shm/coll_shared.hpp"

#include <vector>

#include "mpi/comm/context.hpp"

namespace tmpi::mpi {

std::shared_ptr<CommShared> make_comm_shared(ContextId context, std::shared_ptr<const Group> group) {
  auto together = std::make_shared<CollShared>(group);
  return std::make_shared<CommShared>(context, std::move(group), std::move(together));
}

const std::shared_ptr<CommShared>& CollShared::node_part(ContextId whole) {
  return node_part_.get([this, whole] {
    std::vector<int> members;
    for (const int member : node_map().members(node_map().mine()))
      members.push_back(group_->world_rank(member));
    return new std::shared_ptr<CommShared>(
        make_comm_shared(part_context(whole, PartKind::kNode), Group::list(std::move(members))));
  });
}

}  // namespace tmpi::mpi
