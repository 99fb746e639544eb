// Scatter: the root sends the leader of each other node the chunks of that node in one message; leaders and
// root scatter within their nodes.
#include "mpi/coll/hierarchy/parts.hpp"

namespace tmpi::mpi {
namespace {

// The chunks of the root's own node, out of its buffer.
Err scatter_here(Hierarchy& parts, const Args& args, int root_index) {
  Args within{.collective = Collective::kScatter, .recv = args.recv, .root = root_index, .ragged = true};
  within.in_place = args.in_place;
  std::vector<MPI_Count> counts, displs;
  if (parts.index == root_index) {
    for (const int rank : parts.map.members(parts.here)) {
      counts.push_back(args.send.count);
      displs.push_back(rank * args.send.count);
    }
    within.send = {
        .data = args.send.data, .type = args.send.type, .counts = counts.data(), .displs = displs.data()};
  }
  return run_part(parts.node, within);
}

// The chunks of a node whose ranks are no neighbours, packed.
std::unique_ptr<std::byte[]> pack_node(const Args& args, std::span<const int> members, MPI_Count bytes) {
  auto packed = packed_room(bytes * static_cast<MPI_Count>(members.size()));
  std::byte* place = packed.get();
  for (const int rank : members) {
    pack_chunk(place, args.send.chunk(rank));
    place += bytes;
  }
  return packed;
}

Err scatter_root(Hierarchy& parts, Messages& messages, const Args& args) {
  const NodeMap& map = parts.map;
  const MPI_Count bytes = args.send.whole().bytes();
  MessageBatch batch(messages, map.nodes());
  std::vector<std::unique_ptr<std::byte[]>> packed;
  for (int node = 0; node < map.nodes(); ++node) {
    if (node == parts.here) continue;
    const int leader = map.leader(node), count = map.count(node);
    if (map.contiguous()) {
      batch.send(chunks_of(args.send, leader, count), leader);
    } else {
      packed.push_back(pack_node(args, map.members(node), bytes));
      batch.send(bytes_chunk(packed.back().get(), bytes * count), leader);
    }
  }
  const Err here = scatter_here(parts, args, parts.index);
  batch.wait();
  return here ? here : messages.result();
}

Err scatter_hierarchy(Comm& comm, Args& args) {
  Hierarchy& parts = hierarchy_of(comm);
  Messages messages(comm, args);
  if (comm.rank == args.root) return scatter_root(parts, messages, args);
  if (parts.here == parts.map.node_of(args.root))
    return scatter_here(parts, args, parts.map.index_of(args.root));
  const MPI_Count bytes = args.recv.whole().bytes();
  const auto packed = packed_room(parts.is_node_leader() ? bytes * parts.count() : 0);
  if (parts.is_node_leader()) messages.recv(bytes_chunk(packed.get(), bytes * parts.count()), args.root);
  Args within{.collective = Collective::kScatter, .recv = args.recv};
  within.send = {.data = packed.get(), .count = bytes, .type = checked_type(MPI_BYTE)};
  const Err scattered = run_part(parts.node, within);
  return scattered ? scattered : messages.result();
}

}  // namespace

constinit const Algorithm algorithm::kScatterHierarchy{.collective = Collective::kScatter,
                                                       .name = "hierarchy",
                                                       .needs = conditions<kSharedNodes, kRegular>,
                                                       .forms = {.run = scatter_hierarchy}};

}  // namespace tmpi::mpi
