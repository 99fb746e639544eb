// Allreduce of large vectors: the members of a node combine theirs into pieces, one for each of some
// inter-node communicators; each of these combines its piece by messages, all at once; the members of a node
// collect the pieces. Each byte of the vector crosses between two nodes as often as with one rank on each,
// and no member does the work alone.
#include "mpi/coll/hierarchy/parts.hpp"
#include "mpi/coll/messages/accumulator.hpp"

namespace tmpi::mpi {
namespace {

// How the vector is divided among the members of a node. Some inter-node communicators keep the network and
// several workers busy; more only make smaller messages.
ConsecutiveChunks pieces_of(const Hierarchy& parts, MPI_Count count, const Datatype& type) {
  constexpr MPI_Count kMost = 8, kWorthwhile = 128 * 1024;
  const MPI_Count most = std::min<MPI_Count>(kMost, parts.map.fewest());
  const int used = static_cast<int>(std::clamp<MPI_Count>(count * type.size() / kWorthwhile, 1, most));
  ConsecutiveChunks pieces(parts.count());
  for (int index = 0; index < parts.count(); ++index) {
    const Share share = index < used ? share_of(count, index, used) : Share{count, count};
    pieces.add(share.last - share.first);
  }
  return pieces;
}

Err allreduce_inter_node(Comm& comm, Args& args) {
  if (args.recv.count == 0) return kOk;
  Hierarchy& parts = hierarchy_of(comm);
  const Datatype* type = args.recv.type;
  const ConsecutiveChunks pieces = pieces_of(parts, args.recv.count, *type);
  const MPI_Count first = pieces.at(parts.index), mine = pieces.counts[static_cast<std::size_t>(parts.index)];
  auto* place = static_cast<std::byte*>(args.recv.data) + first * type->extent();
  // In place the arguments stand where results will, while other members still read them.
  ElementBuffer aside(*type, args.in_place ? mine : 0);
  std::byte* piece = args.in_place ? aside.data() : place;

  StageErrors errors;
  Args within{.collective = Collective::kReduceScatter, .op = args.op, .ragged = true};
  within.send = input_of(args);
  within.recv = {.data = piece, .type = type, .counts = pieces.counts.data()};
  errors.add(run_part(parts.node, within));
  if (mine > 0) {
    Args between{.collective = Collective::kAllreduce, .op = args.op, .in_place = true};
    between.recv = {.data = piece, .count = mine, .type = type};
    errors.add(run_part(*parts.inter_node, between));
  }
  if (args.in_place && mine > 0) copy_elements(place, piece, 0, mine, *type);
  Args collect{.collective = Collective::kAllgather, .in_place = true, .ragged = true};
  collect.recv = pieces.side(args.recv.data, type);
  errors.add(run_part(parts.node, collect));
  return errors.result();
}

}  // namespace

constinit const Algorithm algorithm::kAllreduceInterNode{
    .collective = Collective::kAllreduce,
    .name = "inter_node",
    .needs = conditions<kAllNodesShared, kCombinesByNode>,
    .preferred_for = conditions<kFrom<1024 * kKiB>>,
    .forms = {.run = allreduce_inter_node}};

}  // namespace tmpi::mpi
