#include "mpi/comm/inter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "mpi/coll/coll_shared.hpp"
#include "mpi/comm/from_group.hpp"
#include "mpi/comm/gathering.hpp"
#include "mpi/comm/group_ops.hpp"
#include "mpi/comm/making.hpp"
#include "mpi/core/blocked.hpp"
#include "mpi/core/check.hpp"
#include "mpi/core/rank.hpp"

namespace tmpi::mpi {
namespace {

// A member's part of an intercommunicator in the making, or why there is none.
struct Half {
  Parts parts;
  std::shared_ptr<const Group> group;  // the leader's, for the other leader
  int error = MPI_SUCCESS;
  std::string why;
};

// Run by the leader that comes second.
void join_sides(Half& first, Half& second) {
  const GroupPtr both = intersect(first.group, second.group);
  if (both->size() == 0) {
    auto parts = make_sides(first.group, second.group);
    first.parts = std::move(parts[0]);
    second.parts = std::move(parts[1]);
    return;
  }
  for (Half* side : {&first, &second}) {
    side->error = MPI_ERR_COMM;
    side->why = fmt::format(
        "rank {} of MPI_COMM_WORLD is in both groups: the two sides of an intercommunicator must be disjoint",
        both->world_rank(0));
  }
}

Err check_leader(MPI_Comm peer_handle, int remote_leader, int tag, const Rank& me, Comm*& peer) {
  peer = comm_from(peer_handle);
  if (peer == nullptr) return fail(MPI_ERR_COMM, "peer_comm is no communicator");
  if (remote_leader < 0 || remote_leader >= peer->peers)
    return fail(MPI_ERR_RANK, "remote_leader is {}, but peer_comm has ranks 0 to {}", remote_leader,
                peer->peers - 1);
  if (peer->shared->peers->world_rank(remote_leader) == me.world_rank)
    return fail(MPI_ERR_RANK,
                "remote_leader is this process itself: the other group must have a leader of its own");
  return check_send_tag(tag);
}

// The two leaders meet: rank `me` and rank `other` of MPI_COMM_WORLD.
void meet_other_leader(Half& mine, int me, int other, GatheringName name) {
  name.group = Group::list({std::min(me, other), std::max(me, other)});
  gather_and_wait(name, 2, me < other ? 0 : 1, &mine, [](void** halves) {
    join_sides(*static_cast<Half*>(halves[0]), *static_cast<Half*>(halves[1]));
  });
}

// The leaders know the peer communicator and the tag.
Err meet_through_peer(Half& mine, Comm& local, MPI_Comm peer_handle, int remote_leader, int tag) {
  Comm* peer = nullptr;
  TMPI_TRY(check_leader(peer_handle, remote_leader, tag, *local.owner, peer));
  mine.group = local.shared->group;
  meet_other_leader(mine, local.owner->world_rank, peer->shared->peers->world_rank(remote_leader),
                    {.purpose = GatheringName::Purpose::kLeaders,
                     .context = peer->context,
                     .tag = std::to_string(tag),
                     .group = nullptr});
  return kOk;
}

// All members of the group take what their leader has brought.
void share_out(Half** sides, int members, int leader) {
  const Half& brought = *sides[leader];
  for (int rank = 0; rank < members; ++rank) {
    if (rank == leader) continue;
    sides[rank]->parts = brought.parts;
    sides[rank]->error = brought.error;
    sides[rank]->why = brought.why;
  }
}

// The calling rank's communicator, or the error that its leader has met.
Err take(Half& mine, Errhandler* errhandler, Comm*& created) {
  if (mine.error != MPI_SUCCESS) return fail(mine.error, "{}", mine.why);
  created = make_comm(current_rank(), std::move(mine.parts), errhandler);
  return kOk;
}

}  // namespace

Err intercomm_create(Comm& local, int local_leader, MPI_Comm peer, int remote_leader, int tag,
                     Comm*& created) {
  Half mine;
  if (local.rank == local_leader) {
    if (Err error = meet_through_peer(mine, local, peer, remote_leader, tag)) {
      mine.error = error.error_class();
      mine.why = take_explanation();
    }
  }
  const InCollective note(local);
  Meeting& meeting = meeting_of(local);
  Half** sides = meeting.records<Half>(local.coll_sequence++);
  sides[local.seat()] = &mine;
  meeting.meet([&] { share_out(sides, local.size, local_leader); });
  return take(mine, local.errhandler, created);
}

Err create_from_groups(const GroupPtr& local, int local_leader, const GroupPtr& remote, int remote_leader,
                       const std::string& tag, Errhandler* errhandler, Comm*& created) {
  using Purpose = GatheringName::Purpose;
  const int me = current_rank().world_rank;
  Half mine;
  if (local->world_rank(local_leader) == me) {
    mine.group = local;
    meet_other_leader(mine, me, remote->world_rank(remote_leader),
                      {.purpose = Purpose::kFromGroups, .context = 0, .tag = tag, .group = nullptr});
  }
  gather_and_wait({.purpose = Purpose::kFromGroupsSide, .context = 0, .tag = tag, .group = local},
                  local->size(), local->rank_of(me), &mine, [&](void** halves) {
                    share_out(reinterpret_cast<Half**>(halves), local->size(), local_leader);
                  });
  return take(mine, errhandler, created);
}

Err intercomm_merge(Comm& inter, bool high, Comm*& created) {
  Order mine;
  mine.color = high ? 1 : 0;
  const InCollective note(inter);
  Meeting& meeting = meeting_of(inter);
  Order** orders = meeting.records<Order>(inter.coll_sequence++);
  orders[inter.seat()] = &mine;
  meeting.meet([&] {
    const auto [first, second] = sides_of(inter);
    const bool swapped = orders[0]->color > orders[first->size()]->color;
    const Parts parts = make_intra(swapped ? unite(second, first) : unite(first, second));
    for (int seat = 0; seat < inter.seats(); ++seat) orders[seat]->shared = parts.shared;
  });
  created = make_comm(*inter.owner, std::move(mine), inter.errhandler);
  return kOk;
}

}  // namespace tmpi::mpi
