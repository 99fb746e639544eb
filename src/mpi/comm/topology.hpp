// Topology: how a communicator's ranks are arranged. Immutable; grids and graphs are shared by all members,
// of a distributed graph each member has its own edges. MPI report, chapter 8. docs/design/topologies.md.
#pragma once

#include <vector>

#include "mpi/comm/comm.hpp"

namespace tmpi::mpi {

/// Whom a rank exchanges data with in neighbourhood collectives, in the standard's order (MPI report, 8.6):
/// message i comes from sources[i], message j goes to destinations[j]. Ranks may repeat; MPI_PROC_NULL stands
/// at the open ends of grids.
struct Neighbours {
  std::vector<int> sources;
  std::vector<int> destinations;
};

struct Topology {
  explicit Topology(int status) : kind(status) {}
  virtual ~Topology() = default;
  Topology(const Topology&) = default;
  Topology& operator=(const Topology&) = delete;

  /// Those of the member `rank` of the communicator; of a distributed graph only the rank's own are known.
  virtual void neighbours(int rank, Neighbours& result) const = 0;

  const int kind;  ///< MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH, as MPI_Topo_test says
};

/// The calling rank's neighbours; MPI_ERR_TOPOLOGY if the communicator has no topology. Found out by the first call and
/// kept as long as the communicator.
Err neighbours(const Comm& comm, const Neighbours*& result);

}  // namespace tmpi::mpi
