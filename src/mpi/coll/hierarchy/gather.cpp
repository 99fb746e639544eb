// Gather: the members of a node gather at its leader, which sends the root one message; those of the root's
// node gather at the root, straight into its buffer. As many messages to the root as there are other nodes.
#include "mpi/coll/hierarchy/parts.hpp"

namespace tmpi::mpi {
namespace {

// The chunks of the root's own node.
Err gather_here(Hierarchy& parts, const Args& args, int root_index) {
  Args within{.collective = Collective::kGather, .root = root_index, .ragged = true};
  within.in_place = args.in_place;
  within.send = args.send;
  std::vector<MPI_Count> counts, displs;
  if (parts.index == root_index) {
    for (const int rank : parts.map.members(parts.here)) {
      counts.push_back(args.recv.count);
      displs.push_back(rank * args.recv.count);
    }
    within.recv = {
        .data = args.recv.data, .type = args.recv.type, .counts = counts.data(), .displs = displs.data()};
  }
  return run_part(parts.node, within);
}

// The blocks of the other nodes: into the root's buffer if their ranks are neighbours there, else packed.
class IncomingBlocks {
 public:
  IncomingBlocks(Messages& messages, const Args& args, const Hierarchy& parts)
      : args_(args), parts_(parts), bytes_(args.recv.whole().bytes()), batch_(messages, parts.map.nodes()) {
    for (int node = 0; node < parts.map.nodes(); ++node) {
      if (node == parts.here) continue;
      const int leader = parts.map.leader(node), count = parts.map.count(node);
      if (parts.map.contiguous()) {
        batch_.recv(chunks_of(args.recv, leader, count), leader);
      } else {
        packed_.push_back(packed_room(bytes_ * count));
        batch_.recv(bytes_chunk(packed_.back().get(), bytes_ * count), leader);
      }
    }
  }
  void wait() {
    batch_.wait();
    auto block = packed_.begin();
    for (int node = 0; node < parts_.map.nodes() && block != packed_.end(); ++node) {
      if (node == parts_.here) continue;
      const std::byte* place = (block++)->get();
      for (const int rank : parts_.map.members(node)) {
        (void)unpack_chunk(args_.recv.chunk(rank), place, bytes_);
        place += bytes_;
      }
    }
  }

 private:
  const Args& args_;
  const Hierarchy& parts_;
  const MPI_Count bytes_;
  MessageBatch batch_;
  std::vector<std::unique_ptr<std::byte[]>> packed_;
};

Err gather_root(Hierarchy& parts, Messages& messages, const Args& args) {
  IncomingBlocks others(messages, args, parts);
  const Err here = gather_here(parts, args, parts.index);
  others.wait();
  return here ? here : messages.result();
}

Err gather_hierarchy(Comm& comm, Args& args) {
  Hierarchy& parts = hierarchy_of(comm);
  Messages messages(comm, args);
  if (comm.rank == args.root) return gather_root(parts, messages, args);
  if (parts.here == parts.map.node_of(args.root))
    return gather_here(parts, args, parts.map.index_of(args.root));
  const MPI_Count bytes = args.send.whole().bytes();
  const auto packed = packed_room(parts.is_node_leader() ? bytes * parts.count() : 0);
  Args within{.collective = Collective::kGather, .send = args.send};
  within.recv = {.data = packed.get(), .count = bytes, .type = checked_type(MPI_BYTE)};
  const Err gathered = run_part(parts.node, within);
  if (parts.is_node_leader()) messages.send(bytes_chunk(packed.get(), bytes * parts.count()), args.root);
  return gathered ? gathered : messages.result();
}

}  // namespace

constinit const Algorithm algorithm::kGatherHierarchy{.collective = Collective::kGather,
                                                      .name = "hierarchy",
                                                      .needs = conditions<kSharedNodes, kRegular>,
                                                      .forms = {.run = gather_hierarchy}};

}  // namespace tmpi::mpi
