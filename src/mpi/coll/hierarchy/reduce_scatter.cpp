// Reduce_scatter and reduce_scatter_block: each node's vectors are combined at its head, the heads exchange
// and combine what belongs to each other's nodes, each scatters in its node. The chunks of a node must be
// neighbours in the vector.
#include "mpi/coll/hierarchy/parts.hpp"
#include "mpi/coll/messages/accumulator.hpp"

namespace tmpi::mpi {

Err algorithm::reduce_scatter_hierarchy(Comm& comm, Args& args) {
  Hierarchy& parts = hierarchy_of(comm);
  const NodeMap& map = parts.map;
  const Datatype* type = args.recv.type;
  NodeChunks nodes(map.nodes()), members(parts.count());
  for (int node = 0; node < map.nodes(); ++node) {
    MPI_Count count = 0;
    for (const int rank : map.members(node)) count += reduced_count(args, rank);
    nodes.add(count);
  }
  for (const int rank : map.members(parts.here)) members.add(reduced_count(args, rank));
  ElementBuffer whole(*type, parts.is_head() ? nodes.total : 0);
  ElementBuffer block(*type, parts.is_head() ? members.total : 0);

  StageErrors errors;
  Args within{.collective = Collective::kReduce, .op = args.op};
  within.send = {.data = const_cast<std::byte*>(args.input()), .count = nodes.total, .type = type};
  within.recv = {.data = whole.data(), .count = nodes.total, .type = type};
  errors.add(run_part(parts.node, within));
  if (parts.is_head()) {
    Args between{.collective = Collective::kReduceScatter, .op = args.op, .ragged = true};
    between.send = {.data = whole.data(), .count = nodes.total, .type = type};
    between.recv = {.data = block.data(), .type = type, .counts = nodes.counts.data()};
    errors.add(run_part(*parts.column, between));
  }
  Args scatter{.collective = Collective::kScatter, .ragged = true};
  scatter.send = members.side(block.data(), type);
  scatter.recv = {.data = args.recv.data, .count = reduced_count(args, comm.rank), .type = type};
  errors.add(run_part(parts.node, scatter));
  return errors.result();
}

}  // namespace tmpi::mpi
