#include "mpi/coll/hierarchy/hierarchy.hpp"

#include <utility>
#include <vector>

#include "mpi/comm/context.hpp"
#include "mpi/shm/coll_shared.hpp"

namespace tmpi::mpi {
namespace {

void fill_part(Comm& part, const Comm& whole, std::shared_ptr<CommShared> shared, int rank) {
  part.rank = rank;
  part.size = part.peers = shared->group->size();
  part.context = shared->context;
  part.owner = whole.owner;
  part.handle = whole.handle;
  part.message_space = whole.message_space;
  part.shared = std::move(shared);
}

std::unique_ptr<Comm> inter_node_of(const Comm& whole, const NodeMap& map, int index) {
  if (index >= map.fewest()) return nullptr;
  const Group& members = whole.shared->coll->group();
  std::vector<int> group;
  for (int node = 0; node < map.nodes(); ++node)
    group.push_back(members.world_rank(map.members(node)[static_cast<std::size_t>(index)]));
  auto inter_node = std::make_unique<Comm>();
  auto shared =
      make_comm_shared(part_context(whole.context, PartKind::kInterNode), Group::list(std::move(group)));
  shared->let_go();
  fill_part(*inter_node, whole, std::move(shared), map.mine());
  return inter_node;
}

}  // namespace

Hierarchy::Hierarchy(Comm& whole)
    : map(whole.shared->coll->node_map()),
      here(map.mine()),
      index(map.index_of(whole.member_index())),
      inter_node(inter_node_of(whole, map, index)) {
  fill_part(node, whole, whole.shared->coll->node_part(whole.context), index);
}

Hierarchy& hierarchy_of(Comm& comm) {
  if (comm.hierarchy == nullptr) comm.hierarchy = std::make_unique<Hierarchy>(comm);
  return *comm.hierarchy;
}

}  // namespace tmpi::mpi
