// Parking: how threads sleep at a worker's inbox and are woken there. One per worker. docs/design/scheduling.md,
// Parking.
//
//     who parks (inside the worker)                    who has left something
//       1  e = epoch()                                   in the inbox:  push(); if somebody is parked: notify()
//       2  announce(): inbox 0 -> kParked                elsewhere:     a store, then wake_if_parked()
//          failed: something has come
//       3  look again where things are left outside
//          of the inbox: something there: do not sleep
//          (before it, a barrier on all threads, if
//          those stores are not seq_cst: Shared::quick)
//       4  leave the inside
//       5  wait(e): at the eventcount, or at the network's watch
//
// The baton. One of those who sleep watches the network, if any sleep. Who has watched and goes to work has
// therefore the duty to have another one watch: it holds the baton, and passes it to somebody who is parked
// ("passing the baton", Andrews 1989), here or at another worker. Who gets it and parks again watches; who
// goes to work passes it on. If nobody is parked it is put down: then whoever parks next finds that nobody
// watches.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>

#include "base/platform.hpp"
#include "sched/door/event_watch.hpp"
#include "sched/door/eventcount.hpp"
#include "sched/door/inbox.hpp"
#include "sched/door/role.hpp"
#include "sched/door/system.hpp"

namespace tmpi::sched {

template <class S, class Node>
class BasicParking {
 public:
  /// What the workers of a process share of it.
  struct Shared {
    BasicEventWatch<S> watch;
    std::span<BasicParking* const> all;  ///< complete before the first worker runs
    /// What is left outside of the inbox is left by plain stores: the process barrier is enabled.
    bool quick = false;
    /// The process barrier has failed, ever: nobody sleeps for longer than kUnsure. Relaxed: a thread's own failure is
    /// what it has to see.
    std::atomic<bool> unsure{false};
  };

  explicit BasicParking(Shared& shared) noexcept : shared_(shared) {}

  // ---- Any thread ----

  /// Leaves a node in the inbox, and wakes who is parked.
  /// True if somebody was.
  bool push(Node& node) noexcept {
    const bool parked = inbox_.push(node);
    if (parked) eventcount_.notify();
    return parked;
  }
  /// Has the worker look around, parked or not.
  void wake() noexcept { wake_for(kLook); }
  /// The same, for one who has just left something outside of the inbox by a seq_cst store, or, if Shared::quick, by
  /// any before a quick_barrier(): nothing to do unless somebody is parked. True if somebody was, whom nobody else has
  /// woken.
  bool wake_if_parked() noexcept {
    if (inbox_.parked()) [[unlikely]]
      return wake_for(kLook);
    return false;
  }
  /// Nothing in the inbox; a hint.
  bool empty() const noexcept { return inbox_.empty(); }

  // ---- Who is inside the worker ----

  /// Calls taken(node) for everything that has come, oldest first.
  template <class Taken>
  void drain(Taken&& taken) noexcept TMPI_REQUIRES(inside_worker) {
    for (Node* node = inbox_.take(); node != nullptr;) {
      Node* const after = node->next;
      if (node != &wake_node_) {
        taken(*node);
      } else if ((reasons_.exchange(0, std::memory_order_acq_rel) & kBaton) != 0) {  // pairs with wake_for()
        baton_ = Baton::kHeld;
      }
      node = after;
    }
  }

  /// Of a thread that is not inside, in a job whose tasks move (opening.hpp): goes through what is there so often, calls
  /// note(node) for what takes(node, round), and leaves the rest, behind what has come meanwhile.
  template <class Takes, class Note>
  void raid(int rounds, Takes&& takes, Note&& note) noexcept TMPI_REQUIRES(inside_worker) {
    Node* nodes = inbox_.grab();
    for (int round = 0; round < rounds; ++round) {
      for (Node** link = &nodes; *link != nullptr;) {
        Node* const node = *link;
        if (node != &wake_node_ && takes(*node, round)) {
          *link = node->next;
          note(*node);
        } else {
          link = &node->next;
        }
      }
    }
    while (nodes != nullptr) {
      Node* const node = nodes;
      nodes = node->next;
      push(*node);
    }
  }

  std::uint32_t epoch() const noexcept { return eventcount_.epoch(); }
  /// Steps 2 and 3; `look_again()` is true if it has found something. False: do not sleep.
  template <class LookAgain>
  [[nodiscard]] bool announce(LookAgain&& look_again) noexcept TMPI_REQUIRES(inside_worker) {
    if (!inbox_.announce()) return false;
    if (shared_.quick && !S::omits(Step::kBarrier) && !S::process_barrier()) [[unlikely]]
      shared_.unsure.store(true, std::memory_order_relaxed);
    return S::omits(Step::kLookAgain) || !look_again();
  }
  bool announced() const noexcept { return inbox_.parked(); }
  /// There is a network, and nobody watches it.
  bool unwatched() const noexcept { return shared_.watch.free(); }
  /// Nobody is parked here any more, or who is inside sees to it that it is announced again.
  void retract() noexcept { inbox_.retract(); }
  /// Wakes everybody who is parked here.
  void notify() noexcept { eventcount_.notify(); }

  /// The caller is about to watch, if nobody else does: whoever has given it the baton may rely on it.
  void accept_baton() noexcept TMPI_REQUIRES(inside_worker) { baton_ = Baton::kNone; }
  /// The caller has watched.
  void take_baton() noexcept TMPI_REQUIRES(inside_worker) { baton_ = Baton::kHeld; }
  bool holds_baton() const noexcept TMPI_REQUIRES(inside_worker) { return baton_ == Baton::kHeld; }
  /// The caller goes to work. `parked_here`: somebody else sleeps at this inbox, or will not go to work
  /// without calling this in turn.
  void pass_baton(bool parked_here) noexcept TMPI_REQUIRES(inside_worker);
  /// The same for one who has watched and is no worker, nor inside one.
  static void hand_over(Shared& shared) noexcept { hand_over(shared, nullptr); }

  /// From now on whoever parks here is woken by `other` too, an event descriptor (-1: no longer); `event` is one for it
  /// to sleep at. Only while no more than one thread parks here, by which it is called.
  void listen_to(int other, int event) noexcept {
    other_ = other;
    event_ = event;
  }
  /// After the last wait() and before a look: what has signalled `other` so far will be found. No sooner: who waits a
  /// second time without a look in between would sleep through it.
  void take_signals() noexcept {
    if (other_ >= 0) [[unlikely]]
      S::take_signals(other_);
  }
  /// Something comes without a notification: nobody sleeps here for longer than kUnsure.
  void be_restless(bool restless) noexcept { restless_.store(restless, std::memory_order_relaxed); }

  // ---- Outside ----

  /// Step 5: sleeps until the epoch is another one than `epoch`, at most `nanoseconds` (0: for ever). True if
  /// the caller has watched the event source: it has to take_baton() when it is inside again. Blocks the
  /// thread.
  [[nodiscard]] bool wait(std::uint32_t epoch, std::uint64_t nanoseconds = 0) noexcept {
    if (shared_.unsure.load(std::memory_order_relaxed) || restless_.load(std::memory_order_relaxed))
        [[unlikely]]
      nanoseconds = nanoseconds == 0 ? kUnsure : std::min(nanoseconds, kUnsure);
    if (shared_.watch.park(eventcount_, epoch, nanoseconds, false, other_)) return true;
    if (other_ >= 0) [[unlikely]] {
      BasicEventWatch<S>::listen(eventcount_, epoch, event_, other_, nanoseconds);
    } else {
      eventcount_.wait(epoch, nanoseconds);
    }
    return false;
  }

 private:
  enum class Baton : std::uint8_t {
    kNone,
    kHeld,     // by who is inside
    kOffered,  // to those parked here, who have been notified
  };
  static constexpr std::uint64_t kUnsure = 1'000'000;  // ns
  // Why somebody is woken who finds wake_node_ in its inbox.
  static constexpr std::uint32_t kLook = 1;
  static constexpr std::uint32_t kBaton = 2;

  // Has somebody watch who is parked anywhere but at `except`.
  static void hand_over(Shared& shared, const BasicParking* except) noexcept;

  // True if it was parked, and has been woken by nobody else.
  bool wake_for(std::uint32_t reasons) noexcept {
    // One node in the inbox is enough. acq_rel pairs with drain(): whoever finds one there has its reasons,
    // and what it has left before, seen when drain() clears them.
    return reasons_.fetch_or(kLook | reasons, std::memory_order_acq_rel) == 0 && push(wake_node_);
  }

  BasicInbox<S, Node> inbox_;
  BasicEventcount<S> eventcount_;
  Baton baton_ TMPI_GUARDED_BY(inside_worker) = Baton::kNone;  // used by who is inside
  int other_ = -1, event_ = -1;                                // used by the one who parks
  std::atomic<bool> restless_{false};  // relaxed: who has set it, or come in after that, parks so
  Shared& shared_;
  alignas(kCacheLine) typename S::template Atomic<std::uint32_t> reasons_{0};
  Node wake_node_;  // no task: a reason to look
};

template <class S, class Node>
__attribute__((noinline)) void BasicParking<S, Node>::pass_baton(bool parked_here) noexcept {
  if (baton_ == Baton::kNone) return;
  if (parked_here && !S::omits(Step::kHandOverHere)) {
    baton_ = S::omits(Step::kPassOn) ? Baton::kNone : Baton::kOffered;
    eventcount_.notify();
    return;
  }
  baton_ = Baton::kNone;
  hand_over(shared_, this);
}

template <class S, class Node>
__attribute__((noinline)) void BasicParking<S, Node>::hand_over(Shared& shared,
                                                                const BasicParking* except) noexcept {
  if (S::omits(Step::kHandOver)) return;
  // Who watches now will have the baton.
  if (!shared.watch.free()) return;
  for (BasicParking* other : shared.all) {
    if (other == except || !other->inbox_.parked()) continue;
    // Who has been woken by somebody else meanwhile may be at work, and find the baton late: the next one has
    // it too.
    if (other->wake_for(S::omits(Step::kPassOn) ? 0 : kBaton) || S::omits(Step::kPassOn)) return;
  }
}

}  // namespace tmpi::sched
