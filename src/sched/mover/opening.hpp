// Opening: a worker that is going to compute for long lets others take ready tasks out of its inbox meanwhile
// (docs/design/load-balance.md). Its owner opens it at a switch, and closes it at the next; a worker that has nothing to run
// takes what it wants. As long as it is open none of the owner's tasks that do not run can be relied upon to stay.
//
// Who has found nothing to take parks as for anything that is left outside of its inbox (parking.hpp): it looks again
// after it has announced itself; and who opens, or leaves something in an inbox that is open, looks for one that is
// parked after that, and wakes it (invite()). All seq_cst: one of the two sees the other.
//
// One is woken, not all. So who has announced itself, or has had tasks of another worker in its hands, owes the others
// an invitation: if it goes to work while there is something left to take, it wakes the next one. As with the baton
// (parking.hpp). And it does not park while a task that it has found is just being left: nobody would tell it when that
// can be taken.
//
// Never suspends a fiber.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/platform.hpp"
#include "sched/door/monitor.hpp"
#include "sched/door/parking.hpp"

namespace tmpi::sched {

/// How many workers of the process may be parked that come to take something: while there is none, who leaves something
/// looks at no other worker. Written when somebody is about to park, and when it goes to work.
template <class S>
class alignas(kCacheLine) BasicThieves {
 public:
  // A worker that idles.
  /// It has announced itself, and looks for something to take after that. seq_cst pairs with none(): either it is seen
  /// here, or it sees what has been left.
  void join() noexcept { number_.fetch_add(1, std::memory_order_seq_cst); }
  void leave() noexcept { number_.fetch_sub(1, std::memory_order_relaxed); }

  // Any thread.
  bool none() const noexcept { return number_.load(std::memory_order_seq_cst) == 0; }

 private:
  typename S::template Atomic<int> number_{0};
};

template <class S, class Node>
class alignas(kCacheLine) BasicOpening {
 public:
  using Parking = BasicParking<S, Node>;
  using Thieves = BasicThieves<S>;

  // Any thread.
  bool is_open() const noexcept { return open_.load(std::memory_order_seq_cst) != 0; }
  /// There is something to take; a hint.
  bool invites(const Parking& parking) const noexcept { return is_open() && !parking.empty(); }

  // The owner.
  void open() noexcept TMPI_REQUIRES(inside_worker) { open_.store(1, std::memory_order_seq_cst); }
  /// Nobody takes anything from now on, and who has taken something is through with it.
  void close() noexcept TMPI_REQUIRES(inside_worker) {
    lock_.lock();
    open_.store(0, std::memory_order_relaxed);
    lock_.unlock();
  }

  // Any thread.
  /// Something has been left in the owner's inbox: if that is open, one worker that is parked, and may_come(its index),
  /// comes and looks. `all`: the workers' inboxes.
  template <class MayCome>
  void invite(std::span<Parking* const> all, const Thieves& thieves, MayCome&& may_come) noexcept {
    if (S::omits(Step::kWakeThief) || !is_open() || thieves.none()) return;
    for (std::size_t i = 0; i < all.size(); ++i) {
      // Who has been woken by somebody else may have something else to do.
      if (all[i]->announced() && may_come(i) && all[i]->wake_if_parked()) return;
    }
  }

  // Other workers.
  /// Takes what is in the inbox and takes(node, round), oldest first, in so many rounds; note(node) for each, before the
  /// owner can close.
  template <class Takes, class Note>
  void raid(Parking& parking, int rounds, Takes&& takes, Note&& note) noexcept TMPI_REQUIRES(inside_worker) {
    if (!invites(parking)) return;
    lock_.lock();
    if (open_.load(std::memory_order_relaxed) != 0 || S::omits(Step::kOpenStill))
      parking.raid(rounds, takes, note);
    lock_.unlock();
  }

 private:
  typename S::template Atomic<std::uint32_t> open_{0};
  BasicMonitor<S> lock_;
};

}  // namespace tmpi::sched
