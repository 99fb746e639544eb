#include "launch/node/wait_for_edges.hpp"

#include "launch/wire/fields.hpp"

namespace tmpi::launch {

void fields(auto& archive, Of<mpi::RankEdges> auto& rank) {
  archive(rank.rank, rank.collective, rank.awaited, rank.needs);
}

void fields(auto& archive, Of<mpi::WaitForEdges> auto& edges) {
  archive(edges.ranks, edges.members, edges.unreceived);
}

std::string pack(const NodeWaitForEdges& all) {
  Packer packer;
  packer.text(pack(all.dump));
  packer.text(pack(all.stacks));
  FieldWriter{packer}(all.edges);
  return packer.take();
}

Result<NodeWaitForEdges> unpack_wait_for_edges(std::string_view payload) {
  Unpacker unpacker(payload);
  NodeWaitForEdges all;
  all.dump = unpack_state_dump(unpacker.text());
  all.stacks = unpack_stacks(unpacker.text());
  FieldReader{unpacker}(all.edges);
  if (!unpacker.ok()) return Failure{"a node process's part of the deadlock report is cut short"};
  return all;
}

}  // namespace tmpi::launch
