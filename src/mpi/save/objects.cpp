#include "mpi/save/objects.hpp"

#include <memory>
#include <utility>

#include "mpi/base/handle_memory.hpp"
#include "mpi/base/handles.hpp"
#include "mpi/comm/first_made.hpp"
#include "mpi/comm/group_handle.hpp"
#include "mpi/save/under_way.hpp"
#include "mpi/shm/coll_shared.hpp"
#include "mpi/topo/cart.hpp"
#include "mpi/topo/graph.hpp"

namespace tmpi::mpi {
namespace {

template <class T>
void save_address(Packer& to, T* at) {
  to.value(reinterpret_cast<std::uintptr_t>(at));
}
template <class T>
T* address(Unpacker& from) {
  return reinterpret_cast<T*>(from.value<std::uintptr_t>());
}

void save_topology(Packer& to, const Comm& comm) {
  const int kind = comm.topology == nullptr ? MPI_UNDEFINED : comm.topology->kind;
  to.value(kind);
  if (const Grid* const grid = grid_of(comm)) {
    to.values(grid->dims);
    to.values(grid->periods);
  } else if (const Graph* const graph = graph_of(comm)) {
    to.values(graph->index);
    to.values(graph->edges);
  } else if (const DistGraph* const edges = dist_graph_of(comm)) {
    for (const auto* list :
         {&edges->sources, &edges->destinations, &edges->source_weights, &edges->destination_weights})
      to.values(*list);
    to.value(edges->weighted);
  }
}

std::shared_ptr<const Topology> topology(Unpacker& from) {
  switch (from.value<int>()) {
    case MPI_CART: {
      auto grid = std::make_shared<Grid>();
      grid->dims = from.values();
      grid->periods = from.values();
      return grid;
    }
    case MPI_GRAPH: {
      auto graph = std::make_shared<Graph>();
      graph->index = from.values();
      graph->edges = from.values();
      return graph;
    }
    case MPI_DIST_GRAPH: {
      auto edges = std::make_shared<DistGraph>();
      for (auto* list :
           {&edges->sources, &edges->destinations, &edges->source_weights, &edges->destination_weights})
        *list = from.values();
      edges->weighted = from.value<bool>();
      return edges;
    }
    default:
      return nullptr;
  }
}

/// What the members of a communicator in this node process have in common: made by the first that is revived.
std::shared_ptr<CommShared> shared_of(ContextId context, std::shared_ptr<const Group> group) {
  static FirstMade<CommShared> made;
  return made.get(context, [&] { return make_comm_shared(context, std::move(group)); });
}

}  // namespace

void save_entries(Packer& to, const std::vector<Info::Entry>& entries) {
  to.value(entries.size());
  for (const auto& [key, value] : entries) {
    to.text(key);
    to.text(value);
  }
}
std::vector<Info::Entry> take_entries(Unpacker& from) {
  std::vector<Info::Entry> all(from.value<std::size_t>());
  for (auto& [key, value] : all) {
    key = from.text();
    value = from.text();
  }
  return all;
}

/// A handler as its handle, which is a constant or an address of the rank's.
void save_handler(Packer& to, Errhandler* handler) {
  save_address(to, handler == nullptr ? static_cast<MPI_Errhandler>(nullptr) : handle_of(handler));
}
Errhandler* take_handler(Unpacker& from) {
  MPI_Errhandler const handle = address<std::remove_pointer_t<MPI_Errhandler>>(from);
  return handle == nullptr ? nullptr : errhandler_from(handle);
}

std::string why_not(const Comm& comm) {
  if (comm.magic != Comm::kMagic)
    return "has a communicator whose MPI_Comm_idup is under way, or that is freed and in use";
  if (comm.inter()) return "has an intercommunicator";
  if (comm.shared->other_job != nullptr) return "has a communicator with ranks of another job";
  if (comm.references != 1 + requests_at(*comm.owner, comm))
    return "has operations under way on a communicator";
  return "";
}

std::string why_not_group(MPI_Group group) {
  return session_of(group) != nullptr ? "has a group of a session" : "";
}

void save(Packer& to, const Errhandler& handler) {
  to.value(handler.kind);
  to.value(reinterpret_cast<std::uintptr_t>(handler.function));
  to.value(handler.references);
}

void revive_errhandler(Unpacker& from) {
  auto& handler = *new Errhandler;
  handler.kind = from.value<Raiser>();
  handler.function = reinterpret_cast<Errhandler::Function>(from.value<std::uintptr_t>());
  handler.references = from.value<int>();
}

void save(Packer& to, const Info& info) {
  save_entries(to, info.entries());
}

void revive_info(Unpacker& from) {
  new Info(take_entries(from));
}

void save(Packer& to, const Op& op) {
  to.value(op.commutative);
  to.value(reinterpret_cast<std::uintptr_t>(op.user));
  to.value(reinterpret_cast<std::uintptr_t>(op.user_c));
  to.value(op.references.load());
}

void revive_op(Unpacker& from) {
  auto& op = *new Op;
  op.commutative = from.value<bool>();
  op.user = reinterpret_cast<MPI_User_function*>(from.value<std::uintptr_t>());
  op.user_c = reinterpret_cast<MPI_User_function_c*>(from.value<std::uintptr_t>());
  op.references = from.value<int>();
}

void save_group(Packer& to, MPI_Group group) {
  const GroupPtr* of_handle = nullptr;
  if (group_from(group, of_handle)) return;  // it is one
  to.group(*of_handle);
}

void revive_group(Unpacker& from) {
  (void)make_handle(from.group());
}

void save_settings(Packer& to, const Comm& comm) {
  save_handler(to, comm.errhandler);
  to.text(comm.name);
  save_entries(to, comm.hints);
  save_attributes(to, comm.attributes);
}

void take_settings(Unpacker& from, Comm& comm) {
  comm.errhandler = take_handler(from);
  comm.name = from.text();
  comm.hints = take_entries(from);
  take_attributes(from, *comm.owner, comm.attributes);
}

void save(Packer& to, const Comm& comm) {
  to.value(comm.context);
  to.group(comm.shared->group);
  save_topology(to, comm);
  save_settings(to, comm);
}

void revive_comm(Unpacker& from, Rank& owner) {
  auto& comm = *new Comm;
  comm.context = from.value<ContextId>();
  comm.shared = shared_of(comm.context, from.group());
  comm.rank = comm.shared->group->rank_of(owner.world_rank);
  comm.size = comm.peers = comm.shared->group->size();
  comm.owner = &owner;
  comm.handle = reinterpret_cast<MPI_Comm>(&comm);
  comm.topology = topology(from);
  take_settings(from, comm);
}

}  // namespace tmpi::mpi
