// Allreduce of small vectors: each node's are combined at its leader, the leaders combine theirs by
// messages, each tells its node. A member sleeps once.
#include "mpi/coll/hierarchy/parts.hpp"

namespace tmpi::mpi {
namespace {

Err allreduce_hierarchy(Comm& comm, Args& args) {
  if (args.recv.count == 0) return kOk;
  Hierarchy& parts = hierarchy_of(comm);
  StageErrors errors;
  Args within{.collective = Collective::kReduce, .recv = args.recv, .op = args.op};
  within.send = input_of(args);
  within.in_place = parts.is_node_leader() && args.in_place;
  errors.add(run_part(parts.node, within));
  if (parts.is_node_leader()) {
    Args between{.collective = Collective::kAllreduce, .recv = args.recv, .op = args.op, .in_place = true};
    errors.add(run_part(*parts.inter_node, between));
  }
  Args spread{.collective = Collective::kBcast, .recv = args.recv};
  errors.add(run_part(parts.node, spread));
  return errors.result();
}

}  // namespace

constinit const Algorithm algorithm::kAllreduceHierarchy{.collective = Collective::kAllreduce,
                                                         .name = "hierarchy",
                                                         .needs = conditions<kSharedNodes, kCombinesByNode>,
                                                         .forms = {.run = allreduce_hierarchy}};

}  // namespace tmpi::mpi
