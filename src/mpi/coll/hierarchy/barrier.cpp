// Barrier: the members of a node come to its leader, the leaders run a barrier of messages, each then
// releases its node. A member sleeps once; between the nodes go nodes * log nodes messages, however many
// ranks there are.
#include "mpi/coll/hierarchy/parts.hpp"

namespace tmpi::mpi {

Err come_to_leader(Comm& node) {
  Args nothing{.collective = Collective::kGather};
  nothing.send = nothing.recv = {.data = nullptr, .count = 0, .type = checked_type(MPI_BYTE)};
  return run_part(node, nothing);
}

namespace {

Err barrier_hierarchy(Comm& comm, Args&) {
  Hierarchy& parts = hierarchy_of(comm);
  TMPI_TRY(come_to_leader(parts.node));
  if (parts.is_node_leader()) {
    Args between{.collective = Collective::kBarrier};
    TMPI_TRY(run_part(*parts.inter_node, between));
  }
  Args release{.collective = Collective::kBcast};
  release.recv = {.data = nullptr, .count = 0, .type = checked_type(MPI_BYTE)};
  return run_part(parts.node, release);
}

}  // namespace

constinit const Algorithm algorithm::kBarrierHierarchy{.collective = Collective::kBarrier,
                                                       .name = "hierarchy",
                                                       .needs = conditions<kSharedNodes>,
                                                       .forms = {.run = barrier_hierarchy}};

}  // namespace tmpi::mpi
