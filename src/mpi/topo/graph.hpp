// Graphs: general, known whole to every member, and distributed, of which each member knows its own edges.
// MPI report, 8.5.3, 8.5.4 and 8.5.5.
#pragma once

#include <memory>
#include <vector>

#include "mpi/comm/topology.hpp"

namespace tmpi::mpi {

/// As the program gave it to MPI_Graph_create: the neighbours of node i are edges[index[i - 1]] to
/// edges[index[i] - 1]. Shared by all members.
struct Graph final : Topology {
  Graph() : Topology(MPI_GRAPH) {}
  std::vector<int> index;
  std::vector<int> edges;

  int nodes() const noexcept { return static_cast<int>(index.size()); }
  const int* begin_of(int node) const noexcept {
    return edges.data() + (node == 0 ? 0 : index[at(node) - 1]);
  }
  const int* end_of(int node) const noexcept { return edges.data() + index[at(node)]; }
  /// The node's neighbours in their order, both ways.
  void neighbours(int rank, Neighbours& result) const override;

 private:
  static std::size_t at(int node) noexcept { return static_cast<std::size_t>(node); }
};

/// One member's edges, as MPI_Dist_graph_neighbors gives them.
struct DistGraph final : Topology {
  DistGraph() : Topology(MPI_DIST_GRAPH) {}
  std::vector<int> sources, destinations;
  /// Parallel to them if `weighted`, else empty.
  std::vector<int> source_weights, destination_weights;
  bool weighted = false;

  void neighbours(int rank, Neighbours& result) const override;
};

/// The communicator's topology if it is of this kind, else null.
inline const Graph* graph_of(const Comm& comm) noexcept {
  const Topology* topology = comm.topology.get();
  return topology != nullptr && topology->kind == MPI_GRAPH ? static_cast<const Graph*>(topology) : nullptr;
}
inline const DistGraph* dist_graph_of(const Comm& comm) noexcept {
  const Topology* topology = comm.topology.get();
  return topology != nullptr && topology->kind == MPI_DIST_GRAPH ? static_cast<const DistGraph*>(topology)
                                                                 : nullptr;
}

/// MPI_Graph_create: ranks 0 .. nodes - 1 keep their order, the rest gets null; `reorder` is not used, as for
/// grids (cart.hpp). SUSPENDS.
Err create_graph(Comm& parent, Graph shape, Comm*& created);

/// MPI_Dist_graph_create_adjacent: the calling member's own edges. SUSPENDS.
Err create_dist_graph(Comm& parent, DistGraph edges, Comm*& created);

/// An edge that some member names, on its way to the ranks at its ends. A message of MPI_Dist_graph_create.
struct Edge {
  int source;
  int destination;
  int weight;
};
/// MPI_Dist_graph_create: edges of anybody. Each goes to its two ends, where edges stand in the order of the
/// ranks that named them and, of one rank, in its order. All members say the same `weighted`. SUSPENDS.
Err create_dist_graph(Comm& parent, const std::vector<Edge>& edges, bool weighted, Comm*& created);

}  // namespace tmpi::mpi
