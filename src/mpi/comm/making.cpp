#include "mpi/comm/making.hpp"

#include <utility>

#include "mpi/coll/coll_shared.hpp"
#include "mpi/comm/group_ops.hpp"
#include "mpi/core/errhandler.hpp"
#include "mpi/core/rank.hpp"

namespace tmpi::mpi {

Parts make_intra(std::shared_ptr<const Group> group) {
  return {.shared = std::make_shared<CommShared>(new_context(), std::move(group)),
          .local = nullptr,
          .topology = nullptr};
}

std::array<Parts, 2> make_sides(const std::shared_ptr<const Group>& first,
                                const std::shared_ptr<const Group>& second) {
  const ContextId context = new_context();
  const auto meeting = std::make_shared<CollShared>(unite(first, second));
  std::array<Parts, 2> sides = {make_intra(first), make_intra(second)};
  for (Parts& side : sides) side.local = std::move(side.shared);
  sides[0].shared = std::make_shared<CommShared>(context, first, second, meeting, 0);
  sides[1].shared = std::make_shared<CommShared>(context, second, first, meeting, 1);
  return sides;
}

void fill_comm(Comm& comm, Rank& owner, Parts parts, Errhandler* errhandler) {
  comm.rank = parts.shared->group->rank_of(owner.world_rank);
  comm.size = parts.shared->group->size();
  comm.peers = parts.shared->peers->size();
  comm.context = parts.shared->context;
  comm.owner = &owner;
  comm.shared = std::move(parts.shared);
  comm.topology = std::move(parts.topology);
  comm.errhandler = errhandler;
  retain(errhandler);
  comm.handle = reinterpret_cast<MPI_Comm>(&comm);
  if (parts.local != nullptr)
    comm.local =
        make_comm(owner, {.shared = std::move(parts.local), .local = nullptr, .topology = nullptr}, nullptr);
}

Comm* make_comm(Rank& owner, Parts parts, Errhandler* errhandler) {
  if (parts.shared == nullptr) return nullptr;
  auto* comm = new Comm;
  fill_comm(*comm, owner, std::move(parts), errhandler);
  return comm;
}

std::array<std::shared_ptr<const Group>, 2> sides_of(const Comm& comm) {
  if (!comm.inter()) return {comm.shared->group, nullptr};
  if (comm.shared->side == 0) return {comm.shared->group, comm.shared->peers};
  return {comm.shared->peers, comm.shared->group};
}

void fulfil_dup(const Comm& parent, Order** orders) {
  const auto [first, second] = sides_of(parent);
  std::array<Parts, 2> parts;
  if (second == nullptr) {
    parts[0] = make_intra(first);
  } else {
    parts = make_sides(first, second);
  }
  for (int seat = 0; seat < parent.seats(); ++seat) {
    const Parts& mine = parts[seat < first->size() ? 0 : 1];
    orders[seat]->shared = mine.shared;
    orders[seat]->local = mine.local;
  }
}

}  // namespace tmpi::mpi
