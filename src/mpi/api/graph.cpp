// Graph topologies. MPI report, 8.5.3 to 8.5.6.
#include "mpi/topo/graph.hpp"

#include <algorithm>

#include "mpi/api/profiled.hpp"
#include "mpi/base/check.hpp"
#include "mpi/rank/call.hpp"
#include "mpi/rank/info.hpp"

namespace tmpi::mpi {
namespace {

// Runs body(comm, graph) for a communicator with a graph topology.
template <class Body>
int on_graph(const char* name, MPI_Comm handle, Body&& body) {
  return on_comm(name, handle, [&](Comm& comm) -> Err {
    const Graph* graph = graph_of(comm);
    if (graph == nullptr)
      return fail(MPI_ERR_TOPOLOGY,
                  "the communicator has no graph topology: it was not made by MPI_Graph_create");
    return body(comm, *graph);
  });
}

template <class Body>
int on_dist_graph(const char* name, MPI_Comm handle, Body&& body) {
  return on_comm(name, handle, [&](Comm& comm) -> Err {
    const DistGraph* graph = dist_graph_of(comm);
    if (graph == nullptr)
      return fail(MPI_ERR_TOPOLOGY,
                  "the communicator has no distributed graph topology: it was not made by "
                  "MPI_Dist_graph_create or MPI_Dist_graph_create_adjacent");
    return body(comm, *graph);
  });
}

Err check_intra(const Comm& comm) {
  return comm.inter() ? fail(MPI_ERR_COMM, "an intercommunicator cannot get a topology") : kOk;
}

Err check_node(const char* argument, int index, int node, int nodes) {
  if (node >= 0 && node < nodes) return kOk;
  return fail(MPI_ERR_ARG, "{}[{}] is {}, but the nodes are 0 to {}", argument, index, node, nodes - 1);
}

Err check_rank_in(const Graph& graph, int rank) {
  if (rank >= 0 && rank < graph.nodes()) return kOk;
  return fail(MPI_ERR_RANK, "rank is {}, but the communicator has ranks 0 to {}", rank, graph.nodes() - 1);
}

Err check_room(const char* argument, int given) {
  return given < 0 ? fail(MPI_ERR_ARG, "{} is {}: it must not be negative", argument, given) : kOk;
}

// The arguments of MPI_Graph_create as a graph.
Err read_graph(const Comm& comm, int nnodes, const int indx[], const int edges[], Graph& graph) {
  TMPI_TRY(check_intra(comm));
  if (nnodes < 0 || nnodes > comm.size)
    return fail(MPI_ERR_ARG, "nnodes is {}, but the communicator has {} ranks", nnodes, comm.size);
  if (nnodes == 0) return kOk;
  TMPI_TRY(check_pointer(indx, "index"));
  for (int i = 0; i < nnodes; ++i) {
    const int before = i == 0 ? 0 : indx[i - 1];
    if (indx[i] < before)
      return fail(MPI_ERR_ARG, "index[{}] is {}, less than {}: it counts the edges up to and with node {}", i,
                  indx[i], before, i);
  }
  const int count = indx[nnodes - 1];
  if (count > 0) TMPI_TRY(check_pointer(edges, "edges"));
  for (int i = 0; i < count; ++i) TMPI_TRY(check_node("edges", i, edges[i], nnodes));
  graph.index.assign(indx, indx + nnodes);
  if (count > 0) graph.edges.assign(edges, edges + count);
  return kOk;
}

// The values of an array of weights; none for MPI_UNWEIGHTED and, of no edges, MPI_WEIGHTS_EMPTY.
Err read_weights(const char* argument, const int weights[], std::size_t count, std::vector<int>& result) {
  if (weights == MPI_UNWEIGHTED || count == 0) return kOk;
  if (weights == MPI_WEIGHTS_EMPTY)
    return fail(MPI_ERR_ARG, "{} is MPI_WEIGHTS_EMPTY, but there are {} edges", argument, count);
  TMPI_TRY(check_pointer(weights, argument));
  result.assign(weights, weights + count);
  for (std::size_t i = 0; i < count; ++i) {
    if (weights[i] < 0)
      return fail(MPI_ERR_ARG, "{}[{}] is {}: it must not be negative", argument, i, weights[i]);
  }
  return kOk;
}

// One side of a member's edges: ranks of the communicator.
Err read_ends(const Comm& comm, const char* degree_name, int degree, const char* argument, const int ranks[],
              std::vector<int>& result) {
  if (degree < 0) return fail(MPI_ERR_ARG, "{} is {}: it must not be negative", degree_name, degree);
  if (degree > 0) TMPI_TRY(check_pointer(ranks, argument));
  for (int i = 0; i < degree; ++i) TMPI_TRY(check_node(argument, i, ranks[i], comm.size));
  if (degree > 0) result.assign(ranks, ranks + degree);
  return kOk;
}

// The arguments of MPI_Dist_graph_create as edges.
Err read_edges(const Comm& comm, int n, const int sources[], const int degrees[], const int destinations[],
               const int weights[], std::vector<Edge>& edges) {
  TMPI_TRY(check_intra(comm));
  std::vector<int> starts, ends, values;
  TMPI_TRY(read_ends(comm, "n", n, "sources", sources, starts));
  if (n > 0) TMPI_TRY(check_pointer(degrees, "degrees"));
  for (int i = 0; i < n; ++i) {
    if (degrees[i] < 0) return fail(MPI_ERR_ARG, "degrees[{}] is {}: it must not be negative", i, degrees[i]);
    edges.insert(edges.end(), static_cast<std::size_t>(degrees[i]),
                 {.source = starts[static_cast<std::size_t>(i)], .destination = 0, .weight = 0});
  }
  TMPI_TRY(read_ends(comm, "degrees", static_cast<int>(edges.size()), "destinations", destinations, ends));
  TMPI_TRY(read_weights("weights", weights, edges.size(), values));
  for (std::size_t i = 0; i < edges.size(); ++i) {
    edges[i].destination = ends[i];
    if (!values.empty()) edges[i].weight = values[i];
  }
  return kOk;
}

// At most `room` values into a user's array.
void copy_some(const std::vector<int>& values, int room, int* out) {
  std::copy_n(values.begin(), std::min<std::ptrdiff_t>(room, std::ssize(values)), out);
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_Graph_create(MPI_Comm comm_old, int nnodes, const int indx[], const int edges[], int,
                      MPI_Comm* comm_graph) {
  return on_collective("MPI_Graph_create", comm_old, [&](Comm& parent) -> Err {
    TMPI_TRY(check_pointer(comm_graph, "comm_graph"));
    *comm_graph = MPI_COMM_NULL;
    Graph graph;
    TMPI_TRY(read_graph(parent, nnodes, indx, edges, graph));
    Comm* created = nullptr;
    TMPI_TRY(create_graph(parent, std::move(graph), created));
    *comm_graph = handle_of(created);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Graph_create);

int PMPI_Graph_map(MPI_Comm comm, int nnodes, const int indx[], const int edges[], int* newrank) {
  return on_comm("MPI_Graph_map", comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_pointer(newrank, "newrank"));
    Graph graph;
    TMPI_TRY(read_graph(c, nnodes, indx, edges, graph));
    *newrank = c.rank < nnodes ? c.rank : MPI_UNDEFINED;  // as MPI_Graph_create places ranks
    return kOk;
  });
}
TMPI_PROFILED(MPI_Graph_map);

int PMPI_Graphdims_get(MPI_Comm comm, int* nnodes, int* nedges) {
  return on_graph("MPI_Graphdims_get", comm, [&](Comm&, const Graph& graph) -> Err {
    TMPI_TRY(check_pointer(nnodes, "nnodes"));
    TMPI_TRY(check_pointer(nedges, "nedges"));
    *nnodes = graph.nodes();
    *nedges = static_cast<int>(graph.edges.size());
    return kOk;
  });
}
TMPI_PROFILED(MPI_Graphdims_get);

int PMPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[]) {
  return on_graph("MPI_Graph_get", comm, [&](Comm&, const Graph& graph) -> Err {
    TMPI_TRY(check_room("maxindex", maxindex));
    TMPI_TRY(check_room("maxedges", maxedges));
    if (maxindex > 0) TMPI_TRY(check_pointer(indx, "index"));
    if (maxedges > 0) TMPI_TRY(check_pointer(edges, "edges"));
    copy_some(graph.index, maxindex, indx);
    copy_some(graph.edges, maxedges, edges);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Graph_get);

int PMPI_Graph_neighbors_count(MPI_Comm comm, int rank, int* nneighbors) {
  return on_graph("MPI_Graph_neighbors_count", comm, [&](Comm&, const Graph& graph) -> Err {
    TMPI_TRY(check_rank_in(graph, rank));
    TMPI_TRY(check_pointer(nneighbors, "nneighbors"));
    *nneighbors = static_cast<int>(graph.end_of(rank) - graph.begin_of(rank));
    return kOk;
  });
}
TMPI_PROFILED(MPI_Graph_neighbors_count);

int PMPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[]) {
  return on_graph("MPI_Graph_neighbors", comm, [&](Comm&, const Graph& graph) -> Err {
    TMPI_TRY(check_rank_in(graph, rank));
    TMPI_TRY(check_room("maxneighbors", maxneighbors));
    if (maxneighbors > 0) TMPI_TRY(check_pointer(neighbors, "neighbors"));
    const int* begin = graph.begin_of(rank);
    std::copy_n(begin, std::min<std::ptrdiff_t>(maxneighbors, graph.end_of(rank) - begin), neighbors);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Graph_neighbors);

int PMPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
                                    const int sourceweights[], int outdegree, const int destinations[],
                                    const int destweights[], MPI_Info info, int, MPI_Comm* comm_dist_graph) {
  return on_collective("MPI_Dist_graph_create_adjacent", comm_old, [&](Comm& parent) -> Err {
    TMPI_TRY(check_intra(parent));
    TMPI_TRY(check_pointer(comm_dist_graph, "comm_dist_graph"));
    *comm_dist_graph = MPI_COMM_NULL;
    const Info* hints;
    TMPI_TRY(hints_from(info, hints));
    DistGraph edges;
    TMPI_TRY(read_ends(parent, "indegree", indegree, "sources", sources, edges.sources));
    TMPI_TRY(read_ends(parent, "outdegree", outdegree, "destinations", destinations, edges.destinations));
    edges.weighted = sourceweights != MPI_UNWEIGHTED;
    if (edges.weighted != (destweights != MPI_UNWEIGHTED))
      return fail(MPI_ERR_ARG, "only one of sourceweights and destweights is MPI_UNWEIGHTED");
    TMPI_TRY(read_weights("sourceweights", sourceweights, edges.sources.size(), edges.source_weights));
    TMPI_TRY(read_weights("destweights", destweights, edges.destinations.size(), edges.destination_weights));
    Comm* created = nullptr;
    TMPI_TRY(create_dist_graph(parent, std::move(edges), created));
    *comm_dist_graph = handle_of(created);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Dist_graph_create_adjacent);

int PMPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
                           const int destinations[], const int weights[], MPI_Info info, int,
                           MPI_Comm* comm_dist_graph) {
  return on_collective("MPI_Dist_graph_create", comm_old, [&](Comm& parent) -> Err {
    TMPI_TRY(check_pointer(comm_dist_graph, "comm_dist_graph"));
    *comm_dist_graph = MPI_COMM_NULL;
    const Info* hints;
    TMPI_TRY(hints_from(info, hints));
    std::vector<Edge> edges;
    TMPI_TRY(read_edges(parent, n, sources, degrees, destinations, weights, edges));
    Comm* created = nullptr;
    TMPI_TRY(create_dist_graph(parent, edges, weights != MPI_UNWEIGHTED, created));
    *comm_dist_graph = handle_of(created);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Dist_graph_create);

int PMPI_Dist_graph_neighbors_count(MPI_Comm comm, int* indegree, int* outdegree, int* weighted) {
  return on_dist_graph("MPI_Dist_graph_neighbors_count", comm, [&](Comm&, const DistGraph& graph) -> Err {
    TMPI_TRY(check_pointer(indegree, "indegree"));
    TMPI_TRY(check_pointer(outdegree, "outdegree"));
    TMPI_TRY(check_pointer(weighted, "weighted"));
    *indegree = static_cast<int>(graph.sources.size());
    *outdegree = static_cast<int>(graph.destinations.size());
    *weighted = graph.weighted;
    return kOk;
  });
}
TMPI_PROFILED(MPI_Dist_graph_neighbors_count);

int PMPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[],
                              int maxoutdegree, int destinations[], int destweights[]) {
  return on_dist_graph("MPI_Dist_graph_neighbors", comm, [&](Comm&, const DistGraph& graph) -> Err {
    TMPI_TRY(check_room("maxindegree", maxindegree));
    TMPI_TRY(check_room("maxoutdegree", maxoutdegree));
    if (maxindegree > 0) TMPI_TRY(check_pointer(sources, "sources"));
    if (maxoutdegree > 0) TMPI_TRY(check_pointer(destinations, "destinations"));
    copy_some(graph.sources, maxindegree, sources);
    copy_some(graph.destinations, maxoutdegree, destinations);
    // Of an unweighted graph the weights are left as they are.
    if (sourceweights != MPI_UNWEIGHTED) copy_some(graph.source_weights, maxindegree, sourceweights);
    if (destweights != MPI_UNWEIGHTED) copy_some(graph.destination_weights, maxoutdegree, destweights);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Dist_graph_neighbors);
