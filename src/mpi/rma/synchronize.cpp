#include "mpi/rma/synchronize.hpp"

#include "mpi/coll/coll.hpp"
#include "mpi/rma/epoch.hpp"
#include "mpi/rma/remote.hpp"
#include "mpi/rma/waiting.hpp"
#include "sched/task.hpp"

namespace tmpi::mpi {
namespace {

constexpr int kFenceAssertions = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
constexpr int kPostAssertions = MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT;

std::size_t at(int rank) noexcept {
  return static_cast<std::size_t>(rank);
}

// The ranks in the window of a group's members.
Err ranks_of(const Window& window, const Group& group, std::vector<int>& ranks) {
  ranks.clear();
  for (int i = 0; i < group.size(); ++i) {
    const int rank = window.members->group->rank_of(group.world_rank(i));
    if (rank == MPI_UNDEFINED)
      return fail(MPI_ERR_GROUP,
                  "member {} of the group (rank {} of MPI_COMM_WORLD) does not belong to the window", i,
                  group.world_rank(i));
    ranks.push_back(rank);
  }
  return kOk;
}

void await(Window& window, Tally& tally, const std::vector<int>& ranks, const char* what) {
  const auto missing = [&] { return tally.missing(ranks); };
  const AwaitingMembers waits(window, what, missing);
  tally.await([&](sched::Waiter& waiter) { wait_for(waiter, window.members->context, waits); });
}

// The rank tells another of this node process.
void tell(Tally& tally, const Window& window) {
  if (WaitEntry* const last = tally.tell(window.rank, window.members->size())) last->waiter->complete();
}

void acquire(Window& window, int rank, bool exclusive) {
  TargetLock& lock = window.members->member(rank)->lock;
  sched::Waiter waiter(1);
  TargetLock::Applicant me;
  me.waiter = &waiter;
  me.rank = window.rank;
  me.exclusive = exclusive;
  if (lock.acquire(me)) return;
  const auto holder = [&] { return std::vector<int>(lock.holder() >= 0 ? 1 : 0, lock.holder()); };
  const AwaitingMembers waits(window, "for a lock that another rank holds", holder);
  wait_for(waiter, window.members->context, waits);
}

void give_back(Window& window, int rank, bool exclusive) {
  hand_out(*window.members, rank, window.members->member(rank)->lock.release(exclusive));
}

Err no_lock(const Window& window, int rank) {
  if (window.epoch != Epoch::kLock && window.epoch != Epoch::kLockAll)
    return wrong_epoch(window, "a call that needs a lock");
  if (rank == MPI_PROC_NULL)
    return fail(MPI_ERR_RMA_SYNC, "MPI_PROC_NULL is not locked: MPI_Win_lock has not been called for it");
  return fail(MPI_ERR_RMA_SYNC, "rank {} is not locked: MPI_Win_lock has not been called for it", rank);
}

Err check_lock_assertion(const Window& window, int assertion, const char* call) {
  if ((assertion & ~MPI_MODE_NOCHECK) != 0) return bad_assertion(assertion, call);
  if (window.no_locks)
    return fail(MPI_ERR_RMA_SYNC, "the window was created with the hint no_locks: nobody locks it");
  return kOk;
}

}  // namespace

Err fence(Window& window, int assertion) {
  if ((assertion & ~kFenceAssertions) != 0) return bad_assertion(assertion, "MPI_Win_fence");
  if (window.epoch > Epoch::kFenceUsed || window.exposed) return wrong_epoch(window, "MPI_Win_fence");
  Err error;
  if (window.remote != nullptr) error = finish_remote(window, -1);
  // Nothing has been done since the last, and nothing will be: nobody depends on it.
  const bool idle = (assertion & MPI_MODE_NOPRECEDE) != 0 && (assertion & MPI_MODE_NOSUCCEED) != 0;
  if (!idle) TMPI_TRY(barrier(*window.comm));
  window.epoch = (assertion & MPI_MODE_NOSUCCEED) != 0 ? Epoch::kNone : Epoch::kFence;
  return error;
}

Err start(Window& window, const Group& group, int assertion) {
  if ((assertion & ~MPI_MODE_NOCHECK) != 0) return bad_assertion(assertion, "MPI_Win_start");
  std::vector<int> ranks;
  TMPI_TRY(ranks_of(window, group, ranks));
  TMPI_TRY(check_no_access(window, "MPI_Win_start"));
  window.know_targets();
  window.started = std::move(ranks);
  for (const int rank : window.started) window.targets[at(rank)] = kStarted;
  window.epoch = Epoch::kStart;
  Tally& posts = window.mine().posts;
  posts.expect(window.started, window.members->size());
  await(window, posts, window.started, "for MPI_Win_post");
  return kOk;
}

Err complete(Window& window) {
  if (window.epoch != Epoch::kStart) return wrong_epoch(window, "MPI_Win_complete");
  if (window.remote != nullptr) finish_remote_at_origin(window, -1);
  window.epoch = Epoch::kNone;
  for (const int rank : window.started) {
    window.targets[at(rank)] = kNothing;
    if (Member* const member = window.members->member(rank)) {
      tell(member->completes, window);
    } else {
      tell_completed(window, rank);
    }
  }
  window.started.clear();
  return window.remote != nullptr ? refused_so_far(window) : kOk;
}

Err post(Window& window, const Group& group, int assertion) {
  if ((assertion & ~kPostAssertions) != 0) return bad_assertion(assertion, "MPI_Win_post");
  if (window.exposed || window.epoch == Epoch::kFenceUsed) return wrong_epoch(window, "MPI_Win_post");
  std::vector<int> ranks;
  TMPI_TRY(ranks_of(window, group, ranks));
  if (window.epoch == Epoch::kFence) window.epoch = Epoch::kNone;
  window.posted = std::move(ranks);
  window.exposed = true;
  window.mine().completes.expect(window.posted, window.members->size());
  for (const int rank : window.posted) {
    if (Member* const member = window.members->member(rank)) {
      tell(member->posts, window);
    } else {
      tell_posted(window, rank);
    }
  }
  return kOk;
}

Err wait(Window& window) {
  if (!window.exposed) return wrong_epoch(window, "MPI_Win_wait without MPI_Win_post");
  await(window, window.mine().completes, window.posted, "for MPI_Win_complete");
  window.exposed = false;
  return kOk;
}

Err test(Window& window, bool& done) {
  if (!window.exposed) return wrong_epoch(window, "MPI_Win_test without MPI_Win_post");
  done = window.mine().completes.complete();
  if (done) window.exposed = false;
  return kOk;
}

Err lock(Window& window, int type, int rank, int assertion) {
  if (type != MPI_LOCK_SHARED && type != MPI_LOCK_EXCLUSIVE)
    return fail(MPI_ERR_LOCKTYPE, "lock_type is {}: neither MPI_LOCK_SHARED nor MPI_LOCK_EXCLUSIVE", type);
  TMPI_TRY(check_lock_assertion(window, assertion, "MPI_Win_lock"));
  if (rank != MPI_PROC_NULL) TMPI_TRY(check_member(window, rank));
  if (window.epoch != Epoch::kLock) TMPI_TRY(check_no_access(window, "MPI_Win_lock"));
  if (rank == MPI_PROC_NULL) {  // an epoch as others are
    window.know_targets();
    window.epoch = Epoch::kLock;
    ++window.locks;
    ++window.null_locks;
    return kOk;
  }
  if (rank == window.rank && window.exposed)
    return fail(MPI_ERR_RMA_CONFLICT,
                "MPI_Win_post has exposed the calling rank's memory: until MPI_Win_wait nobody may lock it");
  window.know_targets();
  std::uint8_t& target = window.targets[at(rank)];
  if (target != kNothing)
    return fail(MPI_ERR_RMA_SYNC, "rank {} is locked by the calling rank already", rank);
  const bool exclusive = type == MPI_LOCK_EXCLUSIVE;
  if (window.epoch == Epoch::kFence) window.epoch = Epoch::kNone;
  if ((assertion & MPI_MODE_NOCHECK) != 0) {
    target = kUnchecked;
  } else {
    if (window.members->member(rank) != nullptr) {
      acquire(window, rank, exclusive);
    } else {
      lock_remote(window, rank, exclusive);
    }
    target = exclusive ? kExclusive : kShared;
  }
  window.epoch = Epoch::kLock;
  ++window.locks;
  return kOk;
}

Err unlock(Window& window, int rank) {
  if (rank == MPI_PROC_NULL) {
    if (window.null_locks == 0) return no_lock(window, rank);
    --window.null_locks;
    if (--window.locks == 0) window.epoch = Epoch::kNone;
    return kOk;
  }
  TMPI_TRY(check_member(window, rank));
  if (window.epoch != Epoch::kLock || window.targets[at(rank)] == kNothing) return no_lock(window, rank);
  const std::uint8_t held = std::exchange(window.targets[at(rank)], kNothing);
  if (--window.locks == 0) window.epoch = Epoch::kNone;
  if (window.members->member(rank) == nullptr) {
    if (held != kUnchecked) tell_unlocked(window, rank, held == kExclusive);
    return finish_remote(window, rank);
  }
  if (held != kUnchecked) give_back(window, rank, held == kExclusive);
  let_others_run(window);
  return kOk;
}

Err lock_all(Window& window, int assertion) {
  TMPI_TRY(check_lock_assertion(window, assertion, "MPI_Win_lock_all"));
  TMPI_TRY(check_no_access(window, "MPI_Win_lock_all"));
  window.epoch = Epoch::kNone;  // while it suspends
  const bool checked = (assertion & MPI_MODE_NOCHECK) == 0;
  window.know_targets();
  // Those of this node now, since their memory may be accessed without a call; the others when they are first needed.
  for (int rank = 0; rank < window.members->size(); ++rank) {
    const bool here = window.members->member(rank) != nullptr;
    if (checked && here) acquire(window, rank, false);
    window.targets[at(rank)] = !checked ? kUnchecked : here ? kShared : kNothing;
  }
  window.epoch = Epoch::kLockAll;
  return kOk;
}

Err unlock_all(Window& window) {
  if (window.epoch != Epoch::kLockAll) return wrong_epoch(window, "MPI_Win_unlock_all");
  window.epoch = Epoch::kNone;
  for (int rank = 0; rank < window.members->size(); ++rank) {
    const std::uint8_t held = std::exchange(window.targets[at(rank)], kNothing);
    if (held != kShared) continue;
    if (window.members->member(rank) != nullptr) {
      give_back(window, rank, false);
    } else {
      tell_unlocked(window, rank, false);
    }
  }
  let_others_run(window);
  return window.remote != nullptr ? finish_remote(window, -1) : kOk;
}

namespace {

Err finish(Window& window, int rank, Flush how) {
  if (how == Flush::kEverywhere) return finish_remote(window, rank);
  finish_remote_at_origin(window, rank);
  return refused_so_far(window);
}

}  // namespace

Err flush_slowly(Window& window, int rank, Flush how) {
  if (rank == MPI_PROC_NULL) return kOk;
  TMPI_TRY(check_member(window, rank));
  const bool locked = window.epoch == Epoch::kLockAll ||
                      (window.epoch == Epoch::kLock && window.targets[at(rank)] != kNothing);
  if (!locked) return no_lock(window, rank);
  let_others_run(window);
  return window.members->member(rank) != nullptr ? kOk : finish(window, rank, how);
}

Err flush_all(Window& window, Flush how) {
  if (window.epoch != Epoch::kLock && window.epoch != Epoch::kLockAll) return no_lock(window, -1);
  let_others_run(window);
  return window.remote == nullptr ? kOk : finish(window, -1, how);
}

Err sync(Window& window) {
  // What the program has written and read so far is so for everybody. No fence, which ThreadSanitizer does not know.
  window.order.fetch_add(1, std::memory_order_seq_cst);
  let_others_run(window);
  return kOk;
}

}  // namespace tmpi::mpi
