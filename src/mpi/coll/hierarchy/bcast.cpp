// Broadcast: between the nodes in the root's inter-node communicator, then within each node. A root that is
// in none tells its own node first, whose leader goes on.
#include "mpi/coll/hierarchy/parts.hpp"

namespace tmpi::mpi {
namespace {

Err bcast_hierarchy(Comm& comm, Args& args) {
  Hierarchy& parts = hierarchy_of(comm);
  const int via = parts.inter_node_for(args.root), source = parts.map.node_of(args.root);
  const int root_index = parts.map.index_of(args.root);
  StageErrors errors;
  const auto bcast = [&](Comm& part, int root) {
    Args stage{.collective = Collective::kBcast, .recv = args.recv, .root = root};
    errors.add(run_part(part, stage));
  };
  const bool told = parts.here == source && root_index != via;
  if (told) bcast(parts.node, root_index);
  if (parts.index == via) bcast(*parts.inter_node, source);
  if (!told) bcast(parts.node, via);
  return errors.result();
}

}  // namespace

constinit const Algorithm algorithm::kBcastHierarchy{.collective = Collective::kBcast,
                                                     .name = "hierarchy",
                                                     .needs = conditions<kSharedNodes>,
                                                     .forms = {.run = bcast_hierarchy}};

}  // namespace tmpi::mpi
