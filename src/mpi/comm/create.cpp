#include "mpi/comm/create.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "mpi/coll/coll.hpp"
#include "mpi/coll/coll_shared.hpp"
#include "mpi/core/errhandler.hpp"
#include "mpi/core/rank.hpp"
#include "mpi/p2p/p2p.hpp"

namespace tmpi::mpi {
namespace {

// What a member brings to the making of communicators, and what it takes away. On its stack.
struct Order {
  int color = MPI_UNDEFINED;
  int key = 0;
  std::shared_ptr<const Group> group;

  std::shared_ptr<CommShared> shared;
  std::shared_ptr<const Topology> topology;
};

std::shared_ptr<CommShared> make_shared_part(Rank& leader, std::shared_ptr<const Group> group) {
  const ContextId context =
      (ContextId{static_cast<unsigned>(leader.world_rank)} + 1) << 32 | ++leader.contexts_created;
  return std::make_shared<CommShared>(context, std::move(group));
}

Comm* make_comm(Comm& parent, Order& order) {
  if (order.shared == nullptr) return nullptr;
  auto* comm = new Comm;
  comm->rank = order.shared->group->rank_of(parent.owner->world_rank);
  comm->size = order.shared->group->size();
  comm->peers = order.shared->peers->size();
  comm->context = order.shared->context;
  comm->owner = parent.owner;
  comm->shared = std::move(order.shared);
  comm->topology = std::move(order.topology);
  comm->errhandler = parent.errhandler;
  retain(comm->errhandler);
  comm->handle = reinterpret_cast<MPI_Comm>(comm);
  return comm;
}

// All members come with their orders; the last runs `fulfil(orders)`.
template <class Fulfil>
Comm* meet_with(Comm& parent, Order& order, Fulfil&& fulfil) {
  Meeting& meeting = meeting_of(parent);
  Order** orders = meeting.records<Order>(parent.coll_sequence++);
  orders[parent.rank] = &order;
  meeting.meet([&] { fulfil(orders); });
  return make_comm(parent, order);
}

// The communicator of the members by_color[first .. last).
void fulfil_color(Comm& parent, Order** orders, const int* first, const int* last, const Shape& shape) {
  std::vector<int> members;
  members.reserve(static_cast<std::size_t>(last - first));
  for (const int* rank = first; rank != last; ++rank)
    members.push_back(parent.shared->group->world_rank(*rank));
  const auto shared = make_shared_part(*parent.owner, Group::list(std::move(members)));
  const auto topology = shape ? shape(*first, *shared->group) : nullptr;
  for (const int* rank = first; rank != last; ++rank) {
    orders[*rank]->shared = shared;
    orders[*rank]->topology = topology;
  }
}

void fulfil_split(Comm& parent, Order** orders, const Shape& shape) {
  std::vector<int> ranks;
  ranks.reserve(static_cast<std::size_t>(parent.size));
  for (int rank = 0; rank < parent.size; ++rank) {
    if (orders[rank]->color != MPI_UNDEFINED) ranks.push_back(rank);
  }
  std::sort(ranks.begin(), ranks.end(), [&](int a, int b) {
    const Order &x = *orders[a], &y = *orders[b];
    if (x.color != y.color) return x.color < y.color;
    return x.key != y.key ? x.key < y.key : a < b;
  });
  const int* end = ranks.data() + ranks.size();
  for (const int* first = ranks.data(); first != end;) {
    const int color = orders[*first]->color;
    const int* last = std::find_if(first, end, [&](int rank) { return orders[rank]->color != color; });
    fulfil_color(parent, orders, first, last, shape);
    first = last;
  }
}

// One communicator for each group; made for the group's first member, taken by the others from there.
void fulfil_groups(Comm& parent, Order** orders) {
  const Group& all = *parent.shared->group;
  for (int rank = 0; rank < parent.size; ++rank) {
    Order& order = *orders[rank];
    if (order.group == nullptr || order.group->rank_of(all.world_rank(rank)) == MPI_UNDEFINED) continue;
    const int first = all.rank_of(order.group->world_rank(0));
    Order& model = *orders[first];
    if (model.shared == nullptr && model.group != nullptr)
      model.shared = make_shared_part(*parent.owner, model.group);
    order.shared = model.shared;
  }
}

}  // namespace

Err duplicate(Comm& parent, Comm*& created) {
  Order mine;
  mine.topology = parent.topology;
  created = meet_with(parent, mine, [&](Order** orders) {
    const auto shared = make_shared_part(*parent.owner, parent.shared->group);
    for (int rank = 0; rank < parent.size; ++rank) orders[rank]->shared = shared;
  });
  return kOk;
}

Err split(Comm& parent, int color, int key, Comm*& created, const Shape& shape) {
  Order mine{.color = color, .key = key};
  created = meet_with(parent, mine, [&](Order** orders) { fulfil_split(parent, orders, shape); });
  return kOk;
}

Err create(Comm& parent, std::shared_ptr<const Group> group, Comm*& created) {
  Order mine;
  if (group->size() > 0) mine.group = std::move(group);
  created = meet_with(parent, mine, [&](Order** orders) { fulfil_groups(parent, orders); });
  return kOk;
}

// The group's first member makes the shared part and sends each other one a reference to it: members of one
// node process share memory.
Err create_from_members(Comm& parent, const std::shared_ptr<const Group>& group, int tag, Comm*& created) {
  using Reference = std::shared_ptr<CommShared>*;
  constexpr MPI_Count kBytes = sizeof(std::uintptr_t);
  const Datatype& bytes = *datatype_from(MPI_BYTE);
  const ContextId context = parent.context | kCollective;
  const Group& all = *parent.shared->group;
  Order mine;
  Reference reference = nullptr;
  if (group->rank_of(parent.owner->world_rank) == 0) {
    mine.shared = make_shared_part(*parent.owner, group);
    for (int i = 1; i < group->size(); ++i) {
      reference = new std::shared_ptr<CommShared>(mine.shared);
      TMPI_TRY(send(parent, context, &reference, kBytes, bytes, all.rank_of(group->world_rank(i)), tag));
    }
  } else {
    const int leader = all.rank_of(group->world_rank(0));
    TMPI_TRY(recv(parent, context, &reference, kBytes, bytes, leader, tag, MPI_STATUS_IGNORE));
    mine.shared = std::move(*reference);
    delete reference;
  }
  created = make_comm(parent, mine);
  return kOk;
}

Err disconnect(Comm& comm) {
  return barrier(comm);
}

}  // namespace tmpi::mpi
