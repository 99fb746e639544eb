// Allgather: the members of a node gather at their node leader, the leaders exchange the nodes' blocks, and
// all members of a node read the whole out of their leader's memory.
#include "mpi/coll/hierarchy/parts.hpp"

namespace tmpi::mpi {
namespace {

// Gathers the chunks of this node at `place` of the leader's memory.
Err gather_here(Hierarchy& parts, const Args& args, int rank, MPI_Count bytes, std::byte* place) {
  Args within{.collective = Collective::kGather};
  const Chunk mine = args.in_place ? args.recv.chunk(rank) : args.send.whole();
  within.send = {.data = mine.data, .count = mine.count, .type = mine.type};
  within.recv = {.data = place, .count = bytes, .type = checked_type(MPI_BYTE)};
  return run_part(parts.node, within);
}

// The leaders' part: each brings the block of its node.
Err exchange_blocks(Hierarchy& parts, const ConsecutiveChunks& blocks, std::byte* all) {
  Args between{.collective = Collective::kAllgather, .in_place = true};
  between.recv = blocks.side(all, checked_type(MPI_BYTE));
  between.ragged = parts.map.fewest() < parts.map.most();
  if (!between.ragged)
    between.recv = {.data = all, .count = blocks.counts[0], .type = checked_type(MPI_BYTE)};
  return run_part(*parts.inter_node, between);
}

// All chunks, packed node by node, to where they belong.
void unpack_all(const Hierarchy& parts, const Args& args, int members, MPI_Count bytes,
                const std::byte* packed) {
  if (parts.map.contiguous()) {
    (void)unpack_chunk(chunks_of(args.recv, 0, members), packed, members * bytes);
    return;
  }
  for (int node = 0; node < parts.map.nodes(); ++node) {
    for (const int rank : parts.map.members(node)) {
      (void)unpack_chunk(args.recv.chunk(rank), packed, bytes);
      packed += bytes;
    }
  }
}

Err allgather_hierarchy(Comm& comm, Args& args) {
  Hierarchy& parts = hierarchy_of(comm);
  const MPI_Count bytes = args.recv.whole().bytes();
  ConsecutiveChunks blocks(parts.map.nodes());
  for (int node = 0; node < parts.map.nodes(); ++node) blocks.add(parts.map.count(node) * bytes);
  const auto all = packed_room(parts.is_node_leader() ? blocks.total : 0);
  StageErrors errors;
  std::byte* here = parts.is_node_leader() ? all.get() + blocks.at(parts.here) : nullptr;
  errors.add(gather_here(parts, args, comm.rank, bytes, here));
  if (parts.is_node_leader()) errors.add(exchange_blocks(parts, blocks, all.get()));
  read_from_leader(parts.node, all.get(),
                   [&](const std::byte* packed) { unpack_all(parts, args, comm.size, bytes, packed); });
  return errors.result();
}

}  // namespace

constinit const Algorithm algorithm::kAllgatherHierarchy{.collective = Collective::kAllgather,
                                                         .name = "hierarchy",
                                                         .needs = conditions<kSharedNodes, kRegular>,
                                                         .forms = {.run = allgather_hierarchy}};

}  // namespace tmpi::mpi
