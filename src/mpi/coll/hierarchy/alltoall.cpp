// Alltoall: the leader of a node collects all that its members send, the leaders exchange what goes from node
// to node, and each member reads its chunks out of its leader's memory. nodes * nodes messages instead of
// ranks * ranks; data is copied three times more, so for small chunks of one size.
#include "mpi/coll/hierarchy/parts.hpp"

namespace tmpi::mpi {
namespace {

// Chunks of `bytes` between the nodes: from each member here to each member there, in this order.
class Blocks {
 public:
  Blocks(const Hierarchy& parts, int members, MPI_Count bytes)
      : parts_(parts), members_(members), bytes_(bytes), chunks_(parts.map.nodes()) {
    for (int node = 0; node < parts.map.nodes(); ++node)
      chunks_.add(MPI_Count{parts.count()} * parts.map.count(node) * bytes);
  }
  MPI_Count total() const noexcept { return chunks_.total; }
  Side side(std::byte* data) const noexcept { return chunks_.side(data, checked_type(MPI_BYTE)); }

  /// `collected`: of each member here its chunks in rank order.
  void fill(std::byte* outgoing, const std::byte* collected) const {
    const auto size = static_cast<std::size_t>(bytes_);
    for (int node = 0; node < parts_.map.nodes(); ++node) {
      for (int from = 0; from < parts_.count(); ++from) {
        const std::byte* chunks = collected + MPI_Count{from} * members_ * bytes_;
        for (const int to : parts_.map.members(node)) {
          __builtin_memcpy(outgoing, chunks + to * bytes_, size);
          outgoing += bytes_;
        }
      }
    }
  }

  /// What has come for the calling member. In a block the senders' chunks stand one after the other.
  void take(const Args& args, const std::byte* incoming) const {
    for (int node = 0; node < parts_.map.nodes(); ++node) {
      const std::byte* chunk = incoming + chunks_.at(node) + parts_.index * bytes_;
      for (const int from : parts_.map.members(node)) {
        (void)unpack_chunk(args.recv.chunk(from), chunk, bytes_);
        chunk += parts_.count() * bytes_;
      }
    }
  }

 private:
  const Hierarchy& parts_;
  const int members_;
  const MPI_Count bytes_;
  ConsecutiveChunks chunks_;
};

// Everything that the members of this node send, at the leader.
Err collect(Hierarchy& parts, const Args& args, int members, MPI_Count bytes, std::byte* collected) {
  const Chunk mine = chunks_of(args.in_place ? args.recv : args.send, 0, members);
  Args within{.collective = Collective::kGather};
  within.send = {.data = mine.data, .count = mine.count, .type = mine.type};
  within.recv = {.data = collected, .count = members * bytes, .type = checked_type(MPI_BYTE)};
  return run_part(parts.node, within);
}

Err alltoall_hierarchy(Comm& comm, Args& args) {
  Hierarchy& parts = hierarchy_of(comm);
  const MPI_Count bytes = args.recv.whole().bytes();
  const Blocks blocks(parts, comm.size, bytes);
  const MPI_Count room = parts.is_node_leader() ? blocks.total() : 0;
  auto collected = packed_room(room);
  StageErrors errors;
  errors.add(collect(parts, args, comm.size, bytes, collected.get()));
  if (parts.is_node_leader()) {
    const auto outgoing = packed_room(room);
    if (bytes > 0) blocks.fill(outgoing.get(), collected.get());
    Args between{.collective = Collective::kAlltoall, .ragged = true};
    between.send = blocks.side(outgoing.get());
    between.recv = blocks.side(collected.get());
    errors.add(run_part(*parts.inter_node, between));
  }
  read_from_leader(parts.node, collected.get(),
                   [&](const std::byte* incoming) { blocks.take(args, incoming); });
  return errors.result();
}

}  // namespace

constinit const Algorithm algorithm::kAlltoallHierarchy{.collective = Collective::kAlltoall,
                                                        .name = "hierarchy",
                                                        .needs = conditions<kSharedNodes, kRegular>,
                                                        .preferred_for = conditions<kUpTo<2 * kKiB>>,
                                                        .forms = {.run = alltoall_hierarchy}};

}  // namespace tmpi::mpi
