// Distributed graphs: edges are sent to the ranks at their ends.
#include <utility>

#include "mpi/coll/coll.hpp"
#include "mpi/create/create.hpp"
#include "mpi/topo/graph.hpp"

namespace tmpi::mpi {
namespace {

constexpr int kIntsPerEdge = sizeof(Edge) / sizeof(int);

std::size_t at(int i) noexcept {
  return static_cast<std::size_t>(i);
}

// calls visit(rank, edge) for each rank that must know of an edge.
template <class Visit>
void for_each_end(const std::vector<Edge>& edges, Visit&& visit) {
  for (const Edge& edge : edges) {
    visit(edge.source, edge);
    if (edge.destination != edge.source) visit(edge.destination, edge);
  }
}

// Where each member's part begins in a list of parts one after another.
std::vector<MPI_Count> starts_of(const std::vector<MPI_Count>& counts) {
  std::vector<MPI_Count> starts(counts.size());
  for (std::size_t i = 1; i < counts.size(); ++i) starts[i] = starts[i - 1] + counts[i - 1];
  return starts;
}

Side side_of(std::vector<int>& data, const std::vector<MPI_Count>& counts,
             const std::vector<MPI_Count>& starts) {
  Side side;
  side.data = data.data();
  side.type = datatype_from(MPI_INT);
  side.counts = counts.data();
  side.displs = starts.data();
  return side;
}

// How many integers each member is going to send.
Err exchange_counts(Comm& comm, std::vector<MPI_Count>& sent, std::vector<MPI_Count>& received) {
  Args args{.collective = Collective::kAlltoall};
  args.send = {.data = sent.data(), .count = 1, .type = datatype_from(MPI_COUNT)};
  args.recv = {.data = received.data(), .count = 1, .type = datatype_from(MPI_COUNT)};
  return run(comm, args);
}

// The edges that end at the calling member, in the order of the ranks that named them.
Err exchange_edges(Comm& comm, const std::vector<Edge>& edges, std::vector<Edge>& mine) {
  std::vector<MPI_Count> sent(at(comm.size)), received(at(comm.size));
  for_each_end(edges, [&](int rank, const Edge&) { sent[at(rank)] += kIntsPerEdge; });
  TMPI_TRY(exchange_counts(comm, sent, received));
  const std::vector<MPI_Count> send_starts = starts_of(sent), recv_starts = starts_of(received);
  std::vector<int> outgoing(static_cast<std::size_t>(send_starts.back() + sent.back()));
  std::vector<int> incoming(static_cast<std::size_t>(recv_starts.back() + received.back()));
  std::vector<MPI_Count> next = send_starts;
  for_each_end(edges, [&](int rank, const Edge& edge) {
    for (int value : {edge.source, edge.destination, edge.weight})
      outgoing[static_cast<std::size_t>(next[at(rank)]++)] = value;
  });
  Args args{.collective = Collective::kAlltoall, .ragged = true};
  args.send = side_of(outgoing, sent, send_starts);
  args.recv = side_of(incoming, received, recv_starts);
  TMPI_TRY(run(comm, args));
  for (std::size_t i = 0; i < incoming.size(); i += kIntsPerEdge)
    mine.push_back({incoming[i], incoming[i + 1], incoming[i + 2]});
  return kOk;
}

}  // namespace

void DistGraph::neighbours(int, Neighbours& result) const {
  result.sources = sources;
  result.destinations = destinations;
}

Err create_dist_graph(Comm& parent, DistGraph edges, Comm*& created) {
  TMPI_TRY(split(parent, 0, 0, created));  // not a duplicate: no attribute is copied
  created->topology = std::make_shared<const DistGraph>(std::move(edges));
  return kOk;
}

Err create_dist_graph(Comm& parent, const std::vector<Edge>& edges, bool weighted, Comm*& created) {
  std::vector<Edge> mine;
  TMPI_TRY(exchange_edges(parent, edges, mine));
  DistGraph graph;
  graph.weighted = weighted;
  for (const auto& [source, destination, weight] : mine) {
    if (destination == parent.rank) {
      graph.sources.push_back(source);
      if (weighted) graph.source_weights.push_back(weight);
    }
    if (source == parent.rank) {
      graph.destinations.push_back(destination);
      if (weighted) graph.destination_weights.push_back(weight);
    }
  }
  return create_dist_graph(parent, std::move(graph), created);
}

}  // namespace tmpi::mpi
