#include "mpi/shm/shadow_comm.hpp"

#include <numeric>

#include "mpi/comm/context.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/shm/coll_shared.hpp"

namespace tmpi::mpi {
namespace {

constexpr int kShared = ShadowComms::kShadows;  // the slot of all persistent operations

ContextId context_of(const CommShared& parent, std::uint64_t number) {
  return shadow_context(parent.context, number < ShadowComms::kShadows ? static_cast<int>(number) : kShared);
}

// 0: alone on its context. There is room in a tag for 2^18; nobody has as many operations under way.
int space_of(std::uint64_t number) {
  constexpr std::uint64_t kSpaces = std::uint64_t{1} << 18;
  if (number < ShadowComms::kShadows) return 0;
  return static_cast<int>((number - ShadowComms::kShadows) % kSpaces);
}

}  // namespace

std::shared_ptr<CommShared> ShadowRegistry::take(const Comm& parent, std::uint64_t number) {
  CommShared& original = *parent.shared;
  const ContextId context = context_of(original, number);
  const auto& sizes = original.coll->barrier().groups().sizes;
  std::scoped_lock lock(mutex_);
  auto [position, fresh] = entries_.try_emplace(number);
  Entry& entry = position->second;
  if (fresh) entry.left = std::accumulate(sizes.begin(), sizes.end(), 0);
  std::shared_ptr<CommShared>& mine = entry.sides[original.side];
  if (mine == nullptr && !parent.inter()) {
    mine = make_comm_shared(context, original.group);
  } else if (mine == nullptr) {
    const auto& other = entry.sides[1 - original.side];
    mine = std::make_shared<CommShared>(context, original.group, original.peers,
                                        other != nullptr ? other->coll : original.coll->another(),
                                        original.side);
  }
  mine->let_go();
  std::shared_ptr<CommShared> taken = mine;
  if (--entry.left == 0) entries_.erase(position);
  return taken;
}

ShadowComm::ShadowComm(Comm& original, std::uint64_t number) : parent(original) {
  comm.shared = parent.shared->coll->shadows().take(parent, number);
  comm.rank = parent.rank;
  comm.size = parent.size;
  comm.peers = parent.peers;
  comm.context = comm.shared->context;
  comm.owner = parent.owner;
  comm.topology = parent.topology;
  comm.handle = parent.handle;
  comm.message_space = space_of(number);
  comm.stands_for = &parent;
  if (parent.inter()) {
    local = std::make_unique<ShadowComm>(*parent.local, number);
    comm.local = &local->comm;
  }
}

ShadowComm& ShadowComms::next() {
  const std::uint64_t number = nonblocking_++ % kShadows;
  std::unique_ptr<ShadowComm>& shadow = shadows_[number];
  if (shadow == nullptr) shadow = std::make_unique<ShadowComm>(comm_, number);
  return *shadow;
}

ShadowComms& shadows_of(Comm& comm) {
  if (comm.shadows == nullptr) comm.shadows = std::make_unique<ShadowComms>(comm);
  return *comm.shadows;
}

}  // namespace tmpi::mpi
