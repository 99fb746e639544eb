#include "launch/node/standings.hpp"

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

std::string pack(const NodeStanding& standing) {
  Packer packer;
  packer.text(pack(standing.picture));
  packer.number(static_cast<std::int64_t>(standing.standings.ranks.size()));
  for (const mpi::Standing& rank : standing.standings.ranks) {
    packer.number(rank.rank);
    packer.number(static_cast<std::int64_t>(rank.collective));
    packer.number(static_cast<std::int64_t>(rank.awaited));
    pack_ranks(packer, rank.needs);
  }
  packer.number(static_cast<std::int64_t>(standing.standings.members.size()));
  for (const auto& [context, members] : standing.standings.members) {
    packer.number(static_cast<std::int64_t>(context));
    pack_ranks(packer, members);
  }
  packer.text(standing.standings.unreceived);
  return packer.bytes();
}

Result<NodeStanding> unpack_standing(std::string_view payload) {
  Unpacker unpacker(payload);
  NodeStanding standing;
  standing.picture = unpack_picture(unpacker.text());
  for (std::int64_t left = unpacker.number(); left > 0 && unpacker.ok(); --left) {
    mpi::Standing rank;
    rank.rank = static_cast<int>(unpacker.number());
    rank.collective = static_cast<mpi::ContextId>(unpacker.number());
    rank.awaited = static_cast<mpi::ContextId>(unpacker.number());
    rank.needs = unpack_ranks(unpacker);
    standing.standings.ranks.push_back(std::move(rank));
  }
  for (std::int64_t left = unpacker.number(); left > 0 && unpacker.ok(); --left) {
    const auto context = static_cast<mpi::ContextId>(unpacker.number());
    standing.standings.members[context] = unpack_ranks(unpacker);
  }
  standing.standings.unreceived = unpacker.text();
  if (!unpacker.ok()) return Failure{"a node process's part of the deadlock report is cut short"};
  return standing;
}

}  // namespace tmpi::launch
