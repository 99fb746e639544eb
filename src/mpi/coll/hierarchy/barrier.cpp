// Barrier: the members of a node come to its head, the heads meet by messages, each head opens the gate for
// its node. A member sleeps once; between the nodes go nodes * log nodes messages, however many ranks there
// are.
#include "mpi/coll/hierarchy/parts.hpp"

namespace tmpi::mpi {

Err come_to_head(Comm& node) {
  Args nothing{.collective = Collective::kGather};
  nothing.send = nothing.recv = {.data = nullptr, .count = 0, .type = checked_type(MPI_BYTE)};
  return run_part(node, nothing);
}

Err algorithm::barrier_hierarchy(Comm& comm, Args&) {
  Hierarchy& parts = hierarchy_of(comm);
  TMPI_TRY(come_to_head(parts.node));
  if (parts.is_head()) {
    Args between{.collective = Collective::kBarrier};
    TMPI_TRY(run_part(*parts.column, between));
  }
  Args open{.collective = Collective::kBcast};
  open.recv = {.data = nullptr, .count = 0, .type = checked_type(MPI_BYTE)};
  return run_part(parts.node, open);
}

}  // namespace tmpi::mpi
