#include "mpi/coll/coll_shared.hpp"

#include <vector>

#include "mpi/comm/context.hpp"

namespace tmpi::mpi {

const std::shared_ptr<CommShared>& CollShared::node_part(ContextId whole) {
  return node_part_.get([this, whole] {
    std::vector<int> members;
    for (const int member : node_map().members(node_map().mine()))
      members.push_back(group_->world_rank(member));
    return new std::shared_ptr<CommShared>(
        std::make_shared<CommShared>(part_context(whole, PartKind::kNode), Group::list(std::move(members))));
  });
}

}  // namespace tmpi::mpi
