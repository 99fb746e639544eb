#include "mpi/create/making.hpp"

#include <cstdlib>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "mpi/base/errhandler.hpp"
#include "mpi/comm/group_ops.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/shm/coll_shared.hpp"

namespace tmpi::mpi {

Parts make_intra(std::shared_ptr<const Group> group, ContextSource& contexts) {
  return {
      .shared = make_comm_shared(contexts.next(), std::move(group)), .local = nullptr, .topology = nullptr};
}

Sides sides_with(std::shared_ptr<const Group> first, std::shared_ptr<const Group> second,
                 ContextSource& contexts) {
  Sides sides{.first = std::move(first), .second = std::move(second)};
  sides.context = contexts.next();
  for (ContextId& local : sides.locals) local = contexts.next();
  return sides;
}

std::array<Parts, 2> make_sides(const Sides& sides) {
  const auto both = std::make_shared<CollShared>(unite(sides.first, sides.second));
  std::array<Parts, 2> parts;
  parts[0].shared = std::make_shared<CommShared>(sides.context, sides.first, sides.second, both, 0);
  parts[1].shared = std::make_shared<CommShared>(sides.context, sides.second, sides.first, both, 1);
  for (std::size_t side = 0; side < 2; ++side)
    parts[side].local = make_comm_shared(sides.locals[side], parts[side].shared->group);
  return parts;
}

namespace {

// Intercommunicators that some of their members in this process have not taken yet.
struct Untaken {
  std::array<Parts, 2> parts;
  int left = 0;
};
std::mutex g_untaken_mutex;
std::unordered_map<ContextId, Untaken>& untaken() {
  static std::unordered_map<ContextId, Untaken> all;
  return all;
}

int members_here(const Group& group) {
  if (job()->all_nodes() == 1) return group.size();
  int here = 0;
  for (int rank = 0; rank < group.size(); ++rank) here += job()->local(group.world_rank(rank)) != nullptr;
  return here;
}

}  // namespace

Parts take_side(const Sides& sides, int side) {
  const std::scoped_lock lock(g_untaken_mutex);
  auto position = untaken().find(sides.context);
  if (position == untaken().end()) {
    Untaken made{make_sides(sides), members_here(*sides.first) + members_here(*sides.second)};
    position = untaken().emplace(sides.context, std::move(made)).first;
  }
  Untaken& entry = position->second;
  Parts mine = entry.parts[static_cast<std::size_t>(side)];
  if (--entry.left == 0) untaken().erase(position);
  return mine;
}

void Order::pack(Packer& packer) const {
  packer.value(color);
  packer.value(key);
  packer.group(group);
  packer.values(levels);
}

void Order::unpack(Unpacker& unpacker) {
  color = unpacker.value<int>();
  key = unpacker.value<int>();
  group = unpacker.group();
  levels = unpacker.values();
  if (!unpacker.all_known()) std::abort();  // members of one communicator know each other
}

void fill_comm(Comm& comm, Rank& owner, Parts parts, Errhandler* errhandler) {
  comm.rank = parts.shared->group->rank_of(owner.world_rank);
  comm.size = parts.shared->group->size();
  comm.peers = parts.shared->peers->size();
  comm.context = parts.shared->context;
  comm.owner = &owner;
  list_in(owner.comms, comm);
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

Comm* make_child(Comm& parent, Parts parts) {
  Comm* const created = make_comm(*parent.owner, std::move(parts), parent.errhandler);
  if (created != nullptr) created->session = parent.session;
  return created;
}

std::array<std::shared_ptr<const Group>, 2> sides_of(const Comm& comm) {
  if (!comm.inter()) return {comm.shared->group, nullptr};
  if (comm.shared->side == 0) return {comm.shared->group, comm.shared->peers};
  return {comm.shared->peers, comm.shared->group};
}

void fulfil_dup(const Comm& parent, Parts** parts, ContextSource& contexts) {
  const auto [first, second] = sides_of(parent);
  std::array<Parts, 2> made;
  if (second == nullptr) {
    made[0] = make_intra(first, contexts);
  } else {
    made = make_sides(sides_with(first, second, contexts));
  }
  for (int index = 0; index < parent.members(); ++index) {
    const Parts& mine = made[index < first->size() ? 0 : 1];
    parts[index]->shared = mine.shared;
    parts[index]->local = mine.local;
  }
}

}  // namespace tmpi::mpi
