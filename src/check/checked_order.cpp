// What a CheckedCall says of the order of calls of one-sided communication, of all ranks' (rank_clocks.hpp). What it tells others is told before the
// library is entered, what it learns is learnt when the library has returned.
#include <mutex>

#include "check/checked_call.hpp"
#include "mpi/rma/window.hpp"

namespace tmpi::check {

using Completed = WindowAccesses::Completed;

void CheckedCall::order_before() {
  if (function_.ordering == Ordering::kMakes) RankClocks::begin();
  RankClocks* const clocks = RankClocks::instance();
  if (clocks == nullptr) return;
  switch (function_.ordering) {
    case Ordering::kTells:
    case Ordering::kTellsAndHears:
      return clocks->tell_everybody(record_->rank->local_index);
    case Ordering::kCancels:
      return clocks->cancelled();
    case Ordering::kNone:
    case Ordering::kMakes:
    case Ordering::kReceives:
    case Ordering::kSees:
      return;
    default: {
      const auto win = static_cast<MPI_Win>(const_cast<void*>(together()));
      if (const mpi::Window* window = mpi::window_from(win)) order_window_before(*clocks, *window);
    }
  }
}

/// What the rank has asked of the call's target, or of all, is complete.
void CheckedCall::complete(RankClocks& clocks, Ledger& window, Completed how) {
  const int local = record_->rank->local_index;
  const int target = function_.at.target < 0 ? -1 : static_cast<int>(number(function_.at.target));
  const std::uint32_t now = clocks.tick(local);
  window.with_accesses([&](WindowAccesses& all) {
    all.complete(local, target, how, now);
    clocks.tell(local, all.synchronized);
  });
}

void CheckedCall::order_window_before(RankClocks& clocks, const mpi::Window& window) {
  {
    const std::lock_guard guard(record_->lock);
    const CallOrder* order = record_->order_of(HandleKind::kWin, together());
    if (order != nullptr) window_ = order->ledger;
  }
  if (window_ == nullptr) return;
  const int local = record_->rank->local_index;
  const int target = function_.at.target < 0 ? -1 : static_cast<int>(number(function_.at.target));
  if (function_.ordering == Ordering::kFlushLocal) return complete(clocks, *window_, Completed::kAtOrigin);
  if (function_.ordering == Ordering::kFence || function_.ordering == Ordering::kFlush ||
      function_.ordering == Ordering::kUnlock || function_.ordering == Ordering::kComplete)
    complete(clocks, *window_, Completed::kEverywhere);
  window_->with_accesses([&](WindowAccesses& all) {
    if (function_.ordering == Ordering::kUnlock && target < 0) {
      clocks.tell(local, all.of_all);
    } else if (function_.ordering == Ordering::kUnlock && target < window.members->size()) {
      WindowAccesses::Lock& lock = all.locks[target];
      clocks.tell(local, lock.any);
      if (!window.targets.empty() && window.targets[static_cast<std::size_t>(target)] == mpi::kExclusive)
        clocks.tell(local, lock.exclusive);
    } else if (function_.ordering == Ordering::kPost) {
      clocks.tell(local, all.posts[window.rank]);
    } else if (function_.ordering == Ordering::kComplete) {
      for (const int member : window.started) clocks.tell(local, all.completes[member]);
    }
  });
}

void CheckedCall::order_after(bool succeeded) {
  RankClocks* const clocks = RankClocks::instance();
  if (clocks == nullptr) return;
  const int local = record_->rank->local_index;
  if (ledger_ != nullptr) part(*clocks);
  switch (function_.ordering) {
    case Ordering::kReceives:
      clocks->receive(local);
      clocks->hear_everybody(local);
      if (function_.at.request >= 0) end_requests(*clocks);
      return;
    case Ordering::kSees:
      return clocks->see_all(local);
    case Ordering::kTellsAndHears:
      clocks->receive(local);
      return clocks->hear_everybody(local);
    default:
      if (succeeded && window_ != nullptr) order_window_after(*clocks);
  }
}

void CheckedCall::order_window_after(RankClocks& clocks) {
  const mpi::Window* window = mpi::window_from(static_cast<MPI_Win>(const_cast<void*>(together())));
  if (window == nullptr) return;
  const int local = record_->rank->local_index;
  const int target = function_.at.target < 0 ? -1 : static_cast<int>(number(function_.at.target));
  window_->with_accesses([&](WindowAccesses& all) {
    // What it has fetched may be what others have told by it.
    const bool asked = all.asks[local];
    switch (function_.ordering) {
      case Ordering::kFlush:
      case Ordering::kFlushLocal:
      case Ordering::kUnlock:
        if (asked) clocks.learn(local, all.atomic);
        all.asks[local] = false;
        return;
      case Ordering::kSync:
        clocks.learn(local, all.synchronized);
        return clocks.learn(local, all.atomic);
      case Ordering::kLock:
        for (const auto& [member, lock] : all.locks) {
          if (target >= 0 && member != target) continue;
          const bool exclusive =
              target >= 0 && window->targets[static_cast<std::size_t>(target)] == mpi::kExclusive;
          clocks.learn(local, exclusive ? lock.any : lock.exclusive);
          if (exclusive) clocks.learn(local, all.of_all);
        }
        return;
      case Ordering::kStart:
        for (const int member : window->started) clocks.learn(local, all.posts[member]);
        return;
      case Ordering::kWait:
        return clocks.learn(local, all.completes[window->rank]);
      default:
        return;
    }
  });
}

/// It is not known yet whether the call takes part in the collective.
void CheckedCall::meet_nowhere() {
  RankClocks* const clocks = RankClocks::instance();
  if (clocks == nullptr) return;
  const std::lock_guard guard(record_->lock);
  if (const CallOrder* order = record_->order_of(function_.on, late_->handle))
    order->ledger->meet(Ledger::kNowhere, *clocks, record_->rank->local_index);
}

void CheckedCall::part(RankClocks& clocks) {
  const int local = record_->rank->local_index;
  clocks.receive(local);
  if (function_.lifetime == Lifetime::kBlocking)
    return ledger_->part(sequence_, members_here_, clocks, local);
  const std::lock_guard guard(record_->lock);
  record_->open_collectives.push_back({ledger_, sequence_, members_here_});
}

/// Some request may be complete: which one is not looked at.
void CheckedCall::end_requests(RankClocks& clocks) {
  const int local = record_->rank->local_index;
  const std::lock_guard guard(record_->lock);
  std::erase_if(record_->open_collectives, [&](const OpenCollective& open) {
    return open.ledger->part_if_met(open.sequence, open.members, clocks, local);
  });
  if (record_->by_request.empty()) return;
  const std::uint32_t now = clocks.tick(local);
  for (const std::weak_ptr<Ledger>& one : record_->by_request) {
    if (const std::shared_ptr<Ledger> window = one.lock())
      window->with_accesses([&](WindowAccesses& all) {
        all.complete(local, -1, Completed::kRequests, now);
        if (all.asks[local]) clocks.learn(local, all.atomic);
      });
  }
  record_->by_request.clear();
}

}  // namespace tmpi::check
