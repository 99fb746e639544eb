#include "mpi/topo/graph.hpp"

#include <utility>

#include "mpi/create/create.hpp"

namespace tmpi::mpi {

void Graph::neighbours(int rank, Neighbours& result) const {
  result.sources.assign(begin_of(rank), end_of(rank));
  result.destinations = result.sources;
}

Err create_graph(Comm& parent, Graph shape, Comm*& created) {
  auto graph = std::make_shared<const Graph>(std::move(shape));
  return split(parent, parent.rank < graph->nodes() ? 0 : MPI_UNDEFINED, 0, created,
               [&](int, const Group&) { return graph; });
}

}  // namespace tmpi::mpi
