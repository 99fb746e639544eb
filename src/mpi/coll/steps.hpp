// Algorithms in shared memory, in steps. Each has at most one place where a member waits for others; what it
// does before, what is done for everybody there, and what it does afterwards are its steps: static functions
// of a class without data. From them the framework here makes the forms (Forms): the blocking one, in which
// the member's flow of control sleeps in between, and the nonblocking and persistent one, which leaves a
// continuation behind and does the last steps when that proceeds. Members come together in one of three ways:
//
//   all_together<Steps>   every result depends on every member     shared-memory barrier
//   from_root<Steps>      each member gets something of the root   slot ring
//   to_root<Steps>        the root gets something of each member   slot ring
//
// The steps, of which those in brackets may be missing:
//
//   [empty(comm, args)]   true: nothing is to be done and nobody need come; the same for all members
//
// all_together:
//   [contribute(call)]    a member's own part. If it returns a bool, true asks for the leaders' work, which
//                         is left out if nobody asks
//   [combine(call)]       for everybody, by the last member to come
//   [work(call, leader)]  for everybody, by the leader of each worker group, all at the same time; may
//                         SUSPEND in leader.join(), no other step does
//   [finish(call)]        a member takes its result; left out if leaders have worked because they were asked
//
// from_root, to_root:
//   [own(call, ring, slot)]         the root's part that it has of, or for, itself
//   bytes(call)                     data that would be left in the slot, by the root (to_root: by a member)
//   [limit(ring)]                   how much that may be. If it is more, its owner's arguments are the record
//                                   that the slot (to_root: its deposit) shows, and it waits until they have
//                                   been read
//   leave(call, ring, slot, bytes)  leaves the data in the slot
//   take(call, ring, slot)          from_root: a member takes its part; to_root: the root takes everybody's
//
// Errors are left in args.error. All of it is inlined into the functions of Forms; nothing is allocated.
#pragma once

#include <concepts>

#include "mpi/coll/algorithm.hpp"
#include "mpi/coll/stamps.hpp"
#include "mpi/shm/coll_shared.hpp"

namespace tmpi::mpi {

// What steps ask of the call.
inline std::byte* cells_of(const Call& call) {
  return barrier_of(call.comm).cells(call.sequence);
}
inline Args** members_of(const Call& call) {
  return barrier_of(call.comm).records<Args>(call.sequence);
}
/// The contribution of algorithms whose leaders work on the members' own buffers.
inline void show_arguments(Call& call) {
  members_of(call)[call.comm.rank] = &call.args;
}

namespace detail {

template <class Steps>
bool is_empty(const Comm& comm, Args& args) {
  if constexpr (requires { Steps::empty(comm, args); }) {
    return Steps::empty(comm, args);
  } else {
    return false;
  }
}

template <class Steps>
void own_part(Call& call, SlotRing& ring, SlotRing::Slot& slot) {
  if constexpr (requires { Steps::own(call, ring, slot); }) Steps::own(call, ring, slot);
}

template <class Steps>
bool exceeds_limit([[maybe_unused]] const SlotRing& ring, [[maybe_unused]] MPI_Count bytes) {
  if constexpr (requires { Steps::limit(ring); }) {
    return bytes > Steps::limit(ring);
  } else {
    return false;
  }
}

template <class Steps>
class AllTogether {
 public:
  static Err run(Comm& comm, Args& args) {
    if (is_empty<Steps>(comm, args)) return error_of(args);
    Call call{comm, args};
    arrive(call, nullptr);
    finish(call);
    return error_of(args);
  }

  static Started start(Call& call, WaitingContinuation& continuation) {
    if (is_empty<Steps>(call.comm, call.args)) return Started::kDone;
    if (!barrier_of(call.comm).admits_continuation()) return Started::kNot;
    if (!arrive(call, &continuation)) return Started::kPending;
    finish(call);
    return Started::kDone;
  }

  static void finish([[maybe_unused]] Call& call) {
    if constexpr (kOnDemand) {
      if (barrier_of(call.comm).worked(call.sequence)) return;
    }
    if constexpr (requires { Steps::finish(call); }) Steps::finish(call);
  }

 private:
  static constexpr bool kContributes = requires(Call & call) { Steps::contribute(call); };
  static constexpr bool kCombines = requires(Call & call) { Steps::combine(call); };
  static constexpr bool kWorks = requires(Call & call, SharedBarrier::Leader& leader) {
    Steps::work(call, leader);
  };
  static constexpr bool kOnDemand = requires(Call & call) {
    { Steps::contribute(call) } -> std::same_as<bool>;
  };
  static_assert(!(kCombines && kWorks) && (kWorks || !kOnDemand));

  // Contributes, and arrives at the barrier; returns as SharedBarrier::arrive(). Inlined into both forms: a call
  // of its own is 5 % of a small allreduce.
  [[gnu::always_inline]] static bool arrive(Call& call, WaitingContinuation* continuation) {
    SharedBarrier& barrier = barrier_of(call.comm);
    const Stamp stamp = stamp_together<Steps>(call.comm, call.args);
    call.sequence = call.comm.coll_sequence++;
    const auto work = [&]([[maybe_unused]] SharedBarrier::Leader& leader) {
      if constexpr (kWorks) Steps::work(call, leader);
    };
    if constexpr (kOnDemand) {
      const bool needed = Steps::contribute(call);
      return barrier.arrive_and_work_if(call.comm, stamp, needed, call.sequence, work, continuation);
    } else {
      if constexpr (kContributes) Steps::contribute(call);
      if constexpr (kWorks) {
        return barrier.arrive_and_work(call.comm, stamp, work, continuation);
      } else {
        return barrier.arrive(
            call.comm, stamp,
            [&] {
              if constexpr (kCombines) Steps::combine(call);
            },
            continuation);
      }
    }
  }
};

template <class Steps>
class FromRoot {
 public:
  static Err run(Comm& comm, Args& args) {
    if (is_empty<Steps>(comm, args)) return error_of(args);
    SlotRing& ring = ring_of(comm);
    Call call{comm, args, comm.rooted_sequence++};
    SlotRing::Slot& slot = ring.enter(call.sequence);
    if (comm.rank == args.root) {
      give(call, ring, slot);
    } else {
      ring.wait_for_release(slot);
      take(call, ring, slot);
    }
    return error_of(args);
  }

  static Started start(Call& call, WaitingContinuation& continuation) {
    Comm& comm = call.comm;
    if (is_empty<Steps>(comm, call.args)) return Started::kDone;
    SlotRing& ring = ring_of(comm);
    const bool root = comm.rank == call.args.root;
    SlotRing::Slot* slot = ring.free_slot(comm.rooted_sequence);
    if (slot == nullptr) return Started::kNot;
    if (root ? exceeds_limit<Steps>(ring, Steps::bytes(call)) : !ring.admits_continuation(*slot))
      return Started::kNot;
    call.sequence = comm.rooted_sequence++;
    if (root) {
      give(call, ring, *slot);
    } else {
      if (!ring.wait_for_release(*slot, &continuation)) return Started::kPending;
      take(call, ring, *slot);
    }
    return Started::kDone;
  }

  static void finish(Call& call) {
    SlotRing& ring = ring_of(call.comm);
    take(call, ring, ring.slot_of(call.sequence));
  }

 private:
  [[gnu::always_inline]] static void give(Call& call, SlotRing& ring, SlotRing::Slot& slot) {
    const Stamp stamp = stamp_rooted<Steps>(call.comm, call.args);
    ring.claim(slot, call.comm, stamp);
    own_part<Steps>(call, ring, slot);
    const MPI_Count bytes = Steps::bytes(call);
    const bool stays = exceeds_limit<Steps>(ring, bytes);
    if (stays) {
      slot.record = &call.args;
    } else {
      Steps::leave(call, ring, slot, bytes);
    }
    ring.release(slot);
    ring.leave_root(slot, call.comm, stamp, stays);
  }
  [[gnu::always_inline]] static void take(Call& call, SlotRing& ring, SlotRing::Slot& slot) {
    const Stamp stamp = stamp_rooted<Steps>(call.comm, call.args);
    ring.expect(slot, call.comm, stamp);
    Steps::take(call, ring, slot);
    ring.leave(slot, call.comm, stamp);
  }
};

template <class Steps>
class ToRoot {
 public:
  static Err run(Comm& comm, Args& args) {
    if (is_empty<Steps>(comm, args)) return error_of(args);
    SlotRing& ring = ring_of(comm);
    Call call{comm, args, comm.rooted_sequence++};
    SlotRing::Slot& slot = ring.enter(call.sequence);
    comm.rank == args.root ? take(call, ring, slot) : give(call, ring, slot);
    return error_of(args);
  }

  // Nobody leaves a continuation: a root would have to wait for members on other workers.
  static Started start(Call& call, WaitingContinuation&) {
    Comm& comm = call.comm;
    if (is_empty<Steps>(comm, call.args)) return Started::kDone;
    SlotRing& ring = ring_of(comm);
    const bool root = comm.rank == call.args.root;
    SlotRing::Slot* slot = ring.free_slot(comm.rooted_sequence);
    if (slot == nullptr) return Started::kNot;
    if (root ? !ring.others_arrived(*slot) : exceeds_limit<Steps>(ring, Steps::bytes(call)))
      return Started::kNot;
    call.sequence = comm.rooted_sequence++;
    root ? take(call, ring, *slot) : give(call, ring, *slot);
    return Started::kDone;
  }

 private:
  [[gnu::always_inline]] static void give(Call& call, SlotRing& ring, SlotRing::Slot& slot) {
    const MPI_Count bytes = Steps::bytes(call);
    if (!exceeds_limit<Steps>(ring, bytes)) [[likely]] {
      Steps::leave(call, ring, slot, bytes);
      return ring.arrive(slot, call.comm, stamp_rooted<Steps>(call.comm, call.args));
    }
    sched::Waiter waiter(1);
    SlotRing::Deposit& deposit = ring.deposits(slot)[call.comm.rank];
    deposit.record = &call.args;
    deposit.set_waiter(&waiter);
    ring.arrive(slot, call.comm, stamp_rooted<Steps>(call.comm, call.args));
    waiter.wait();
  }
  [[gnu::always_inline]] static void take(Call& call, SlotRing& ring, SlotRing::Slot& slot) {
    own_part<Steps>(call, ring, slot);
    ring.arrive_root(slot, call.comm, stamp_rooted<Steps>(call.comm, call.args));
    Steps::take(call, ring, slot);
    ring.retire(slot);
  }
};

}  // namespace detail

template <class Steps>
inline constexpr Forms all_together = {.run = detail::AllTogether<Steps>::run,
                                       .start = detail::AllTogether<Steps>::start,
                                       .finish = detail::AllTogether<Steps>::finish};
template <class Steps>
inline constexpr Forms from_root = {.run = detail::FromRoot<Steps>::run,
                                    .start = detail::FromRoot<Steps>::start,
                                    .finish = detail::FromRoot<Steps>::finish};
template <class Steps>
inline constexpr Forms to_root = {
    .run = detail::ToRoot<Steps>::run, .start = detail::ToRoot<Steps>::start, .finish = nullptr};

}  // namespace tmpi::mpi
