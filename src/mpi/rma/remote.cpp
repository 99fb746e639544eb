#include "mpi/rma/remote.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "mpi/remote/active.hpp"
#include "mpi/remote/instance.hpp"
#include "mpi/rma/operations.hpp"
#include "mpi/rma/target.hpp"
#include "mpi/rma/waiting.hpp"
#include "mpi/rma/wire.hpp"
#include "sched/task.hpp"

namespace tmpi::mpi {
namespace {

using remote::Core;
using rma::Header;
using rma::What;

int node_of(const Window& window, int rank) noexcept {
  return job()->node_of(window.members->group->world_rank(rank));
}

Header header_to(const Window& window, int rank, What what) noexcept {
  Header header;
  header.window = window.members->context;
  header.from = window.rank;
  header.to = rank;
  header.what = what;
  return header;
}

// Until `ready(core)`, which is asked whenever something has come back.
template <class Ready>
void await(Window& window, const char* what, Ready&& ready) {
  const auto nobody_known = [] { return std::vector<int>(); };
  const AwaitingMembers waits(window, what, nobody_known);
  for (;;) {
    WaitingFlow flow;
    const bool over = remote::engine()->with_core([&](Core& core) {
      const bool is_ready = ready(core);
      if (!is_ready) window.remote->waiting.push(flow);
      return is_ready;
    });
    if (over) return;
    // Workers look at the network more often meanwhile.
    remote::detail::g_expected.fetch_add(1, std::memory_order_relaxed);
    wait_for(flow.own, window.members->context, waits);
    remote::detail::g_expected.fetch_sub(1, std::memory_order_relaxed);
  }
}

// In an epoch of MPI_Win_lock_all a target is locked when it is accessed first.
void lock_if_first(Window& window, int rank) {
  std::uint8_t* const target =
      window.epoch == Epoch::kLockAll ? &window.targets[static_cast<std::size_t>(rank)] : nullptr;
  if (target != nullptr && *target == kNothing) {
    *target = kAsked;
    lock_remote(window, rank, false);
    // Others of the rank's flows may wait for this one.
    remote::engine()->with_core([&](Core& core) {
      *target = kShared;
      core.resumed.take(window.remote->waiting);
    });
  } else if (target != nullptr && *target == kAsked) {
    await(window, "for a lock that another thread of the rank has asked for",
          [&](Core&) { return *target != kAsked; });
  }
}

enum class Order : bool { kAny, kAsCalled };

// Begins an operation when the node takes what is on its way there. Accumulates of one origin at one target happen in
// order (MPI report, 12.7.2), so none overtakes one that is sent in pieces.
template <class MakePlan>
void begin(Window& window, const Spot& target, Order order, MakePlan&& make_plan) {
  const int node = node_of(window, target.rank);
  lock_if_first(window, target.rank);
  const auto behind_others = [&] { return order == Order::kAsCalled && window.remote->at(node).sending > 0; };
  for (;;) {
    bool congested = false;
    const bool begun = remote::engine()->with_core([&](Core& core) {
      congested = core.backlog.congested(node);
      if (congested || behind_others()) return false;
      rma::begin(core, make_plan(node), target);
      return true;
    });
    if (begun) return;
    if (congested) {
      sched::yield();
      remote::engine()->poll();
    } else {
      await(window, "until accumulates have been sent", [&](Core&) { return !behind_others(); });
    }
  }
}

// All that has been sent there is done; else it has been asked for.
bool quiet(Core& core, Window& window, int node) {
  RemoteState::Peer& peer = window.remote->at(node);
  if (peer.transfers > 0) return false;
  if (peer.unanswered) {
    Header header = header_to(window, -1, What::kFinish);
    header.flags = rma::kWantsAnswer;
    (void)rma::send_header(core, node, header);
    peer.unanswered = false;
    ++peer.answers;
  }
  return peer.answers == 0;
}

template <class Test>
bool at_all(const Window& window, int rank, Test&& test) {
  if (rank >= 0) return test(node_of(window, rank));
  bool all = true;
  for (int node = 0; node < static_cast<int>(window.remote->peers.size()); ++node) all &= test(node);
  return all;
}

void tell(Window& window, int rank, What what, std::uint8_t operation = 0) {
  Header header = header_to(window, rank, what);
  header.operation = operation;
  remote::engine()->with_core(
      [&](Core& core) { (void)rma::send_header(core, node_of(window, rank), header); });
}

}  // namespace

void listen_to_other_nodes() {
  static constexpr remote::ActiveHandlers handlers{.arriving = rma::arriving, .landed = rma::landed};
  remote::register_active(handlers);
}

Err put_remote(Window& window, const Data& origin, const Spot& target, MPI_Aint displacement,
               Request* request) {
  begin(window, target, Order::kAny, [&](int node) {
    rma::Plan plan{.window = window, .node = node, .header = header_to(window, target.rank, What::kPut)};
    plan.header.displacement = displacement;
    plan.origin = origin;
    plan.bytes = origin.bytes();
    plan.request = request;
    return plan;
  });
  return kOk;
}

Err get_remote(Window& window, const Data& origin, const Spot& target, MPI_Aint displacement,
               Request* request) {
  begin(window, target, Order::kAny, [&](int node) {
    rma::Plan plan{.window = window, .node = node, .header = header_to(window, target.rank, What::kGet)};
    plan.header.displacement = displacement;
    plan.result = origin;
    plan.bytes = target.bytes();
    plan.request = request;
    return plan;
  });
  return kOk;
}

Err combine_remote(Window& window, Operator which, const Datatype& basic, const Data& origin,
                   const Data& result, const Spot& target, MPI_Aint displacement, Request* request) {
  begin(window, target, Order::kAsCalled, [&](int node) {
    const bool brings = which != Operator::kNoOp;
    rma::Plan plan{.window = window, .node = node, .header = header_to(window, target.rank, What::kCombine)};
    plan.header.displacement = displacement;
    plan.header.operation = static_cast<std::uint8_t>(which);
    if (brings) plan.origin = origin;
    plan.result = result;
    // To have nothing done and nothing returned needs no message.
    plan.bytes = brings ? origin.bytes() : result.type != nullptr ? target.bytes() : 0;
    plan.grain = basic.size();
    plan.request = request;
    return plan;
  });
  return kOk;
}

Err compare_and_swap_remote(Window& window, const void* origin, const void* compare, void* result,
                            const Spot& target, MPI_Aint displacement) {
  const auto size = static_cast<std::size_t>(target.type->size());
  std::byte both[64];
  if (2 * size > sizeof both)
    return fail(MPI_ERR_TYPE, "{} is no type for MPI_Compare_and_swap", target.type->name());
  std::memcpy(both, origin, size);
  std::memcpy(both + size, compare, size);
  begin(window, target, Order::kAsCalled, [&](int node) {
    rma::Plan plan{
        .window = window, .node = node, .header = header_to(window, target.rank, What::kCompareAndSwap)};
    plan.header.displacement = displacement;
    plan.origin = {both, static_cast<MPI_Count>(2 * size), datatype_from(MPI_BYTE)};
    plan.result = {result, 1, target.type};
    plan.bytes = plan.origin.bytes();
    return plan;
  });
  return kOk;
}

Err finish_remote(Window& window, int rank) {
  await(window, "until operations are done on other nodes", [&](Core& core) {
    return at_all(window, rank, [&](int node) { return quiet(core, window, node); });
  });
  return refused_so_far(window);
}

Err refused_so_far(Window& window) {
  const int error = remote::engine()->with_core(
      [&](Core&) { return std::exchange(window.remote->error, static_cast<int>(MPI_SUCCESS)); });
  if (error == MPI_SUCCESS) return kOk;
  return fail(error,
              "a target on another node has refused an operation of this epoch: what was to be accessed is "
              "not memory that is attached to its window");
}

void finish_remote_at_origin(Window& window, int rank) {
  await(window, "until data has left for other nodes", [&](Core&) {
    return at_all(window, rank, [&](int node) { return window.remote->at(node).transfers == 0; });
  });
}

void lock_remote(Window& window, int rank, bool exclusive) {
  tell(window, rank, What::kLock, exclusive);
  // Another flow of the rank may wait for another member's lock.
  await(window, "for the lock of a rank on another node", [&](Core&) {
    std::vector<int>& granted = window.remote->granted;
    const auto mine = std::find(granted.begin(), granted.end(), rank);
    if (mine == granted.end()) return false;
    granted.erase(mine);
    return true;
  });
}

// An operation as others are: what follows waits for its answer.
void tell_unlocked(Window& window, int rank, bool exclusive) {
  const int node = node_of(window, rank);
  Header header = header_to(window, rank, What::kUnlock);
  header.operation = exclusive;
  // Behind all data of the epoch.
  finish_remote_at_origin(window, rank);
  remote::engine()->with_core([&](Core& core) {
    rma::ask_for_answer(window.remote->at(node), header);
    (void)rma::send_header(core, node, header);
  });
}

void tell_posted(Window& window, int rank) {
  tell(window, rank, What::kPosted);
}

void tell_completed(Window& window, int rank) {
  tell(window, rank, What::kCompleted);
}

void hand_out(const WindowShared& window, int rank, TargetLock::Applicant* granted) {
  while (granted != nullptr) {
    TargetLock::Applicant& applicant = *std::exchange(granted, granted->behind);
    if (applicant.waiter != nullptr) {
      applicant.waiter->complete();  // gone
    } else {
      remote::engine()->with_core([&](Core& core) { rma::grant(core, window, rank, applicant); });
    }
  }
}

}  // namespace tmpi::mpi
