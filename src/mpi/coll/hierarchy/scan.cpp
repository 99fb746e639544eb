// Scan and exscan: within each node as if it were alone; meanwhile the leaders learn what the nodes before
// theirs combine to, and each member adds that from below. Nodes must hold neighbouring ranks.
#include "mpi/coll/hierarchy/parts.hpp"
#include "mpi/coll/messages/accumulator.hpp"

namespace tmpi::mpi {
namespace {

// What the members of the nodes before this one combine to, at the leader; nothing on the first node.
Err combine_before(Hierarchy& parts, const Args& args, std::byte* before) {
  StageErrors errors;
  const Side place{.data = before, .count = args.recv.count, .type = args.recv.type};
  Args within{.collective = Collective::kReduce, .recv = place, .op = args.op};
  within.send = input_of(args);
  errors.add(run_part(parts.node, within));
  if (parts.is_node_leader()) {
    Args between{.collective = Collective::kExscan, .recv = place, .op = args.op, .in_place = true};
    errors.add(run_part(*parts.inter_node, between));
  }
  return errors.result();
}

// `first_here`: what the first member of a node makes of the nodes before.
template <class FirstHere>
Err scan_by_nodes(Comm& comm, Args& args, FirstHere&& first_here) {
  if (args.recv.count == 0) return kOk;
  Hierarchy& parts = hierarchy_of(comm);
  const Datatype& type = *args.recv.type;
  const MPI_Count count = args.recv.count;
  ElementBuffer before(type, parts.is_node_leader() ? count : 0);
  StageErrors errors;
  errors.add(combine_before(parts, args, before.data()));
  errors.add(run_part(parts.node, args));
  if (parts.here == 0) return errors.result();
  read_from_leader(parts.node, before.data(), [&](const std::byte* lower) {
    auto* result = static_cast<std::byte*>(args.recv.data);
    parts.is_node_leader() ? first_here(lower, result) : reduce_local(*args.op, lower, result, count, type);
  });
  return errors.result();
}

Err scan_hierarchy(Comm& comm, Args& args) {
  return scan_by_nodes(comm, args, [&](const std::byte* lower, std::byte* result) {
    reduce_local(*args.op, lower, result, args.recv.count, *args.recv.type);
  });
}

Err exscan_hierarchy(Comm& comm, Args& args) {
  return scan_by_nodes(comm, args, [&](const std::byte* lower, std::byte* result) {
    copy_elements(result, lower, 0, args.recv.count, *args.recv.type);
  });
}

}  // namespace

constinit const Algorithm algorithm::kScanHierarchy{.collective = Collective::kScan,
                                                    .name = "hierarchy",
                                                    .needs = conditions<kSharedNodes, kNeighbouringRanks>,
                                                    .forms = {.run = scan_hierarchy}};

constinit const Algorithm algorithm::kExscanHierarchy{.collective = Collective::kExscan,
                                                      .name = "hierarchy",
                                                      .needs = conditions<kSharedNodes, kNeighbouringRanks>,
                                                      .forms = {.run = exscan_hierarchy}};

}  // namespace tmpi::mpi
