// Broadcast: between the nodes along the root's column, then within each node. A root whose column is not
// complete tells its own node first, whose head goes on.
#include "mpi/coll/hierarchy/parts.hpp"

namespace tmpi::mpi {

Err algorithm::bcast_hierarchy(Comm& comm, Args& args) {
  Hierarchy& parts = hierarchy_of(comm);
  const int column = parts.column_for(args.root), source = parts.map.node_of(args.root);
  const int root_index = parts.map.index_of(args.root);
  StageErrors errors;
  const auto bcast = [&](Comm& part, int root) {
    Args stage{.collective = Collective::kBcast, .recv = args.recv, .root = root};
    errors.add(run_part(part, stage));
  };
  const bool told = parts.here == source && root_index != column;
  if (told) bcast(parts.node, root_index);
  if (parts.index == column) bcast(*parts.column, source);
  if (!told) bcast(parts.node, column);
  return errors.result();
}

}  // namespace tmpi::mpi
