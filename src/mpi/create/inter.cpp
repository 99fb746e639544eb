#include "mpi/create/inter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "mpi/base/no_memory.hpp"
#include "mpi/comm/check.hpp"
#include "mpi/comm/group_ops.hpp"
#include "mpi/create/from_group.hpp"
#include "mpi/create/making.hpp"
#include "mpi/rank/rank.hpp"

namespace tmpi::mpi {
namespace {

// What a member knows of an intercommunicator in the making, or why there is none. What the leaders have
// found out is handed on as it is; each process makes what its members share (take_side).
struct Half {
  GroupPtr group;         // the leader's, for the other leader
  bool all_known = true;  // all groups are of jobs that this one is connected with
  Sides sides;
  int side = 0;
  bool alone = false;  // there is no other side
  int error = MPI_SUCCESS;
  std::string why;

  void pack(Packer& packer) const {
    for (const GroupPtr& each : {group, sides.first, sides.second}) packer.group(each);
    for (const ContextId each : {sides.context, sides.locals[0], sides.locals[1]}) packer.value(each);
    packer.value(side);
    packer.value(alone);
    packer.value(error);
    packer.text(why);
  }
  void unpack(Unpacker& unpacker) {
    for (GroupPtr* each : {&group, &sides.first, &sides.second}) *each = unpacker.group();
    for (ContextId* each : {&sides.context, &sides.locals[0], &sides.locals[1]})
      *each = unpacker.value<ContextId>();
    side = unpacker.value<int>();
    alone = unpacker.value<bool>();
    error = unpacker.value<int>();
    why = unpacker.text();
    all_known = unpacker.all_known();
  }
};

// Side 0 is that of the leader who comes first in the key's group.
void join_sides(Half** halves, ContextSource& contexts) {
  // Whom one leader does not know is of a third job.
  if (!halves[0]->all_known || !halves[1]->all_known ||
      of_too_many_jobs(*halves[0]->group, *halves[1]->group)) {
    for (Half* half : {halves[0], halves[1]}) {
      half->error = MPI_ERR_COMM;
      half->why =
          "the two groups have ranks of more than two jobs, which tmpi does not connect in one "
          "communicator";
    }
    return;
  }
  const GroupPtr both = intersect(halves[0]->group, halves[1]->group);
  const Sides sides = sides_with(halves[0]->group, halves[1]->group, contexts);
  for (int side = 0; side < 2; ++side) {
    Half& half = *halves[side];
    half.sides = sides;
    half.side = side;
    if (both->size() == 0) continue;
    half.error = MPI_ERR_COMM;
    half.why = fmt::format(
        "rank {} of MPI_COMM_WORLD is in both groups: the two sides of an intercommunicator must be disjoint",
        both->world_rank(0));
  }
}

Err check_leader(MPI_Comm peer_handle, int remote_leader, int tag, Rank& me, Comm*& peer) {
  peer = comm_from(me, peer_handle);
  if (peer == nullptr) return fail(MPI_ERR_COMM, "peer_comm is no communicator");
  if (remote_leader < 0 || remote_leader >= peer->peers)
    return fail(MPI_ERR_RANK, "remote_leader is {}, but peer_comm has ranks 0 to {}", remote_leader,
                peer->peers - 1);
  if (peer->shared->peers->world_rank(remote_leader) == me.world_rank)
    return fail(MPI_ERR_RANK,
                "remote_leader is this process itself: the other group must have a leader of its own");
  return check_send_tag(tag);
}

// The same in the jobs of both.
bool comes_first(int one, int other) {
  const std::uint64_t job = other_jobs().id_of(one), other_job = other_jobs().id_of(other);
  return job != other_job ? job < other_job : number_at_home(one) < number_at_home(other);
}

// The two leaders come together: rank `me` and rank `other` of MPI_COMM_WORLD.
void agree_with_other_leader(Half& mine, int me, int other, BarrierKey key) {
  key.group = comes_first(me, other) ? Group::list({me, other}) : Group::list({other, me});
  agree(key, mine, {.in_all = Sides::kContexts}, join_sides);
}

// All members of the group take what their leader has brought.
void share_out(Half** sides, int members, int leader) {
  const Half& brought = *sides[leader];
  for (int rank = 0; rank < members; ++rank) {
    if (rank == leader) continue;
    sides[rank]->sides = brought.sides;
    sides[rank]->side = brought.side;
    sides[rank]->alone = brought.alone;
    sides[rank]->error = brought.error;
    sides[rank]->why = brought.why;
  }
}

// The calling rank's communicator, or the error that its leader has met.
Err take(Half& mine, Errhandler* errhandler, Comm*& created) {
  if (mine.error != MPI_SUCCESS) return fail(mine.error, "{}", mine.why);
  created = make_comm(current_rank(), take_side(mine.sides, mine.side), errhandler);
  return kOk;
}

}  // namespace

Err meet(Comm& local, int leader, const std::function<Err(Counterpart&)>& find, Comm*& created) {
  Half mine;
  if (local.rank == leader) {
    Counterpart counterpart{.key = {}};
    if (Err error = guarded([&] { return find(counterpart); })) {  // the members wait for this one
      mine.error = error.error_class();
      mine.why = take_explanation();
    } else {
      mine.group = local.shared->group;
      agree_with_other_leader(mine, local.owner->world_rank, counterpart.leader, std::move(counterpart.key));
    }
  }
  agree(local, mine, {}, [&](Half** halves, ContextSource&) { share_out(halves, local.size, leader); });
  TMPI_TRY(take(mine, local.errhandler, created));
  created->session = local.session;
  return kOk;
}

Err meet_alone(const Counterpart& counterpart, Errhandler* errhandler, Comm*& created) {
  const int me = current_rank().world_rank;
  Half mine;
  mine.group = Group::range(me, 1);
  agree_with_other_leader(mine, me, counterpart.leader, counterpart.key);
  return take(mine, errhandler, created);
}

// The leaders know the peer communicator and the tag.
Err intercomm_create(Comm& local, int local_leader, MPI_Comm peer, int remote_leader, int tag,
                     Comm*& created) {
  return meet(
      local, local_leader,
      [&](Counterpart& counterpart) -> Err {
        Comm* through = nullptr;
        TMPI_TRY(check_leader(peer, remote_leader, tag, *local.owner, through));
        counterpart = {.leader = through->shared->peers->world_rank(remote_leader),
                       .key = {.purpose = BarrierKey::Purpose::kLeaders,
                               .context = through->context,
                               .tag = std::to_string(tag),
                               .group = nullptr}};
        return kOk;
      },
      created);
}

Err create_from_groups(const GroupPtr& local, int local_leader, const std::function<Err(OtherSide&)>& find,
                       const std::string& tag, Errhandler* errhandler, Comm*& created) {
  using Purpose = BarrierKey::Purpose;
  const int me = current_rank().world_rank;
  Half mine;
  if (local->world_rank(local_leader) == me) {  // the others hear of it from the leader, whatever it has met
    OtherSide other;
    if (Err error = guarded([&] { return find(other); })) {
      mine.error = error.error_class();
      mine.why = take_explanation();
    } else if (other.group->size() == 0) {
      mine.alone = true;
    } else {
      mine.group = local;
      agree_with_other_leader(mine, me, other.group->world_rank(other.leader),
                              {.purpose = Purpose::kFromGroups, .context = 0, .tag = tag, .group = nullptr});
    }
  }
  agree({.purpose = Purpose::kFromGroupsSide, .context = 0, .tag = tag, .group = local}, mine, {},
        [&](Half** halves, ContextSource&) { share_out(halves, local->size(), local_leader); });
  created = nullptr;
  return mine.alone ? kOk : take(mine, errhandler, created);
}

Err intercomm_merge(Comm& inter, bool high, Comm*& created) {
  Order mine;
  mine.color = high ? 1 : 0;
  agree(inter, mine, {.in_all = 1}, [&](Order** orders, ContextSource& contexts) {
    const auto [first, second] = sides_of(inter);
    const bool swapped = orders[0]->color > orders[first->size()]->color;
    const Parts parts = make_intra(swapped ? unite(second, first) : unite(first, second), contexts);
    for (int index = 0; index < inter.members(); ++index) orders[index]->shared = parts.shared;
  });
  created = make_child(inter, std::move(mine));
  return kOk;
}

}  // namespace tmpi::mpi
