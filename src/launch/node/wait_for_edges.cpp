#include "launch/node/wait_for_edges.hpp"

#include "launch/wire/frames.hpp"

namespace tmpi::launch {
namespace {

void pack_ranks(Packer& packer, const std::vector<int>& ranks) {
  packer.number(static_cast<std::int64_t>(ranks.size()));
  for (const int rank : ranks) packer.number(rank);
}

std::vector<int> unpack_ranks(Unpacker& unpacker) {
  std::vector<int> ranks;
  for (std::int64_t left = unpacker.number(); left > 0 && unpacker.ok(); --left)
    ranks.push_back(static_cast<int>(unpacker.number()));
  return ranks;
}

}  // namespace

std::string pack(const NodeWaitForEdges& all) {
  Packer packer;
  packer.text(pack(all.dump));
  packer.number(static_cast<std::int64_t>(all.edges.ranks.size()));
  for (const mpi::RankEdges& rank : all.edges.ranks) {
    packer.number(rank.rank);
    packer.number(static_cast<std::int64_t>(rank.collective));
    packer.number(static_cast<std::int64_t>(rank.awaited));
    pack_ranks(packer, rank.needs);
  }
  packer.number(static_cast<std::int64_t>(all.edges.members.size()));
  for (const auto& [context, members] : all.edges.members) {
    packer.number(static_cast<std::int64_t>(context));
    pack_ranks(packer, members);
  }
  packer.text(all.edges.unreceived);
  return packer.bytes();
}

Result<NodeWaitForEdges> unpack_wait_for_edges(std::string_view payload) {
  Unpacker unpacker(payload);
  NodeWaitForEdges all;
  all.dump = unpack_state_dump(unpacker.text());
  for (std::int64_t left = unpacker.number(); left > 0 && unpacker.ok(); --left) {
    mpi::RankEdges rank;
    rank.rank = static_cast<int>(unpacker.number());
    rank.collective = static_cast<mpi::ContextId>(unpacker.number());
    rank.awaited = static_cast<mpi::ContextId>(unpacker.number());
    rank.needs = unpack_ranks(unpacker);
    all.edges.ranks.push_back(std::move(rank));
  }
  for (std::int64_t left = unpacker.number(); left > 0 && unpacker.ok(); --left) {
    const auto context = static_cast<mpi::ContextId>(unpacker.number());
    all.edges.members[context] = unpack_ranks(unpacker);
  }
  all.edges.unreceived = unpacker.text();
  if (!unpacker.ok()) return Failure{"a node process's part of the deadlock report is cut short"};
  return all;
}

}  // namespace tmpi::launch
