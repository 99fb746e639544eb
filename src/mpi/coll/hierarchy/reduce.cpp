// Reduce: within each node to the member in the root's inter-node communicator, then in that. If the root is
// in none, in that of the node leaders, and the root's leader hands the result on. Nodes are combined in rank
// order, or the operator commutes.
#include "mpi/coll/hierarchy/parts.hpp"
#include "mpi/coll/messages/accumulator.hpp"

namespace tmpi::mpi {
namespace {

Err reduce_hierarchy(Comm& comm, Args& args) {
  if (args.recv.count == 0) return kOk;
  Hierarchy& parts = hierarchy_of(comm);
  Messages messages(comm, args);
  const MPI_Count count = args.recv.count;
  const Datatype* type = args.recv.type;
  const int via = parts.inter_node_for(args.root), target = parts.map.node_of(args.root);
  const bool at_root = comm.rank == args.root, speaks = parts.index == via;
  ElementBuffer own(*type, speaks && !at_root ? count : 0);  // of whoever speaks for a node
  const Side result{.data = at_root ? args.recv.data : own.data(), .count = count, .type = type};

  Args within{.collective = Collective::kReduce, .recv = result, .op = args.op, .root = via};
  within.send = input_of(args);
  within.in_place = speaks && at_root && args.in_place;
  StageErrors errors;
  errors.add(run_part(parts.node, within));
  if (speaks) {
    Args between{.collective = Collective::kReduce, .send = result, .recv = result, .op = args.op};
    between.root = target;
    between.in_place = parts.here == target;
    errors.add(run_part(*parts.inter_node, between));
  }
  const int speaker = parts.map.members(target)[static_cast<std::size_t>(via)];
  if (speaker != args.root && comm.rank == speaker) messages.send(result.whole(), args.root);
  if (speaker != args.root && at_root) messages.recv(args.recv.whole(), speaker);
  errors.add(messages.result());
  return errors.result();
}

}  // namespace

constinit const Algorithm algorithm::kReduceHierarchy{.collective = Collective::kReduce,
                                                      .name = "hierarchy",
                                                      .needs = conditions<kSharedNodes, kCombinesByNode>,
                                                      .forms = {.run = reduce_hierarchy}};

}  // namespace tmpi::mpi
