// Reduce_scatter and reduce_scatter_block: each node's vectors are combined at its leader, the leaders
// exchange and combine what belongs to each other's nodes, each scatters in its node. Where the chunks of a
// node are no neighbours in the vector, leaders put them in order.
#include "mpi/coll/hierarchy/parts.hpp"
#include "mpi/coll/messages/accumulator.hpp"

namespace tmpi::mpi {
namespace {

// A vector that is a chunk for each member: from rank order to that of the nodes' members.
void order_by_nodes(const Hierarchy& parts, const Args& args, int members, std::byte* from, std::byte* to) {
  const Datatype& type = *args.recv.type;
  ConsecutiveChunks chunks(members);
  for (int rank = 0; rank < members; ++rank) chunks.add(reduced_count(args, rank));
  MPI_Count place = 0;
  for (int node = 0; node < parts.map.nodes(); ++node) {
    for (const int rank : parts.map.members(node)) {
      const MPI_Count count = reduced_count(args, rank);
      (void)copy_chunk(elements_of(to, place, count, type), elements_of(from, chunks.at(rank), count, type));
      place += count;
    }
  }
}

Err reduce_scatter_hierarchy(Comm& comm, Args& args) {
  Hierarchy& parts = hierarchy_of(comm);
  const NodeMap& map = parts.map;
  const Datatype* type = args.recv.type;
  ConsecutiveChunks nodes(map.nodes()), members(parts.count());
  for (int node = 0; node < map.nodes(); ++node) {
    MPI_Count count = 0;
    for (const int rank : map.members(node)) count += reduced_count(args, rank);
    nodes.add(count);
  }
  for (const int rank : map.members(parts.here)) members.add(reduced_count(args, rank));
  ElementBuffer whole(*type, parts.is_node_leader() ? nodes.total : 0);
  ElementBuffer ordered(*type, parts.is_node_leader() && !map.contiguous() ? nodes.total : 0);
  ElementBuffer block(*type, parts.is_node_leader() ? members.total : 0);

  StageErrors errors;
  Args within{.collective = Collective::kReduce, .op = args.op};
  within.send = {.data = const_cast<std::byte*>(args.input()), .count = nodes.total, .type = type};
  within.recv = {.data = whole.data(), .count = nodes.total, .type = type};
  errors.add(run_part(parts.node, within));
  if (parts.is_node_leader()) {
    if (!map.contiguous()) order_by_nodes(parts, args, comm.size, whole.data(), ordered.data());
    Args between{.collective = Collective::kReduceScatter, .op = args.op, .ragged = true};
    between.send = {.data = (map.contiguous() ? whole : ordered).data(), .count = nodes.total, .type = type};
    between.recv = {.data = block.data(), .type = type, .counts = nodes.counts.data()};
    errors.add(run_part(*parts.inter_node, between));
  }
  Args scatter{.collective = Collective::kScatter, .ragged = true};
  scatter.send = members.side(block.data(), type);
  scatter.recv = {.data = args.recv.data, .count = reduced_count(args, comm.rank), .type = type};
  errors.add(run_part(parts.node, scatter));
  return errors.result();
}

}  // namespace

constinit const Algorithm algorithm::kReduceScatterHierarchy{
    .collective = Collective::kReduceScatter,
    .name = "hierarchy",
    .needs = conditions<kSharedNodes, kCombinesByNode>,
    .forms = {.run = reduce_scatter_hierarchy}};

}  // namespace tmpi::mpi
