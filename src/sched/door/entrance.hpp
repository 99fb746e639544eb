// Entrance: who is inside a worker, and who is parked. One at a time is inside, the worker's own thread or a
// thread of one of its ranks (docs/design/threads.md); all of them park by the one function here, at the worker's
// inbox or alone:
//
//     the worker's own thread, when it has nothing to run      at the inbox
//     a blocked thread, while the worker's own thread is
//     in user code: one of them, the inbox's parker            at the inbox, in its place
//     every other blocked thread                               alone, until it is woken or appointed
//
// What the protocol needs of a worker is its Host:
//
//     void look()             takes in whatever has come: inbox, drain hook, network
//     bool look_again()       takes in what has been left outside of the inbox; true if there was something
//     bool has_ready()        a task is ready to run
//     bool finished()         all tasks of the job have finished
//     void spin()             look() for a while, until has_ready() or finished()
//     bool progressed()       something has moved since the last call, so that it pays to spin once more
//     bool sleep(epoch)       Parking::wait() for the worker's own thread
//
// Once threads have been admitted everything here but admits(), enter() and pause() is called inside.
#pragma once

#include <cstdint>

#include "sched/door/monitor.hpp"
#include "sched/door/parking.hpp"
#include "sched/door/role.hpp"

namespace tmpi::sched {

/// A thread as it parks. Used inside its worker, but for `alone`.
template <class S>
struct BasicParker {
  enum class Place : std::uint8_t { kNowhere, kAlone, kInbox };

  bool woken = false;  ///< what it has waited for has come, and it has been told
  Place place = Place::kNowhere;
  BasicParker* next = nullptr;  ///< of the worker's blocked threads
  BasicParker* previous = nullptr;
  BasicEventcount<S> alone;
};

template <class S, class Node>
class BasicEntrance {
 public:
  using Parking = BasicParking<S, Node>;
  using Parker = BasicParker<S>;

  explicit BasicEntrance(typename Parking::Shared& shared) noexcept : parking_(shared) {}

  Parking& parking() noexcept { return parking_; }
  const Parking& parking() const noexcept { return parking_; }

  // ---- In and out ----

  /// The worker's own thread has nothing to run.
  bool idle() const noexcept TMPI_REQUIRES(inside_worker) { return idle_; }
  /// Threads are let in: from now on the monitor counts.
  bool admits() const noexcept { return admits_; }
  /// The worker's own thread, which is `inside` or in user code.
  void admit(bool inside) noexcept TMPI_UNCHECKED {
    admits_ = true;
    if (inside) monitor_.lock();
  }
  /// From user code into the worker. May block the thread.
  void enter() noexcept TMPI_UNCHECKED { monitor_.lock(); }
  /// Back to user code, or to sleep.
  template <class Host>
  void leave(Host& host) noexcept TMPI_REQUIRES(inside_worker);
  /// Lets others in for a moment: one who polls.
  template <class Host>
  void yield(Host& host) noexcept TMPI_REQUIRES(inside_worker) TMPI_UNCHECKED {
    wake_owner(host);
    monitor_.yield();
  }
  /// A moment outside for the worker's own thread while it spins.
  void pause() noexcept TMPI_REQUIRES(inside_worker);

  // ---- Parking ----

  /// The worker's own thread has nothing to run: parks until host.has_ready() or host.finished().
  template <class Host>
  void idle(Host& host) noexcept TMPI_REQUIRES(inside_worker);
  /// A thread of a rank waits until it is woken.
  template <class Host>
  void block(Parker& self, Host& host) noexcept TMPI_REQUIRES(inside_worker);
  /// Wakes a thread that waits in block(), or will.
  void wake(Parker& thread) noexcept TMPI_REQUIRES(inside_worker);

  /// Parking::drain(). Whoever takes in the baton, and is not idle, passes it on.
  template <class Taken>
  void drain(Taken&& taken) noexcept TMPI_REQUIRES(inside_worker) {
    parking_.drain(taken);
    if (!idle_ && parking_.holds_baton()) [[unlikely]]
      parking_.pass_baton(parked_at_inbox());
  }

 private:
  using Place = typename Parker::Place;

  template <class Host>
  void park(Parker& self, Host& host) noexcept TMPI_REQUIRES(inside_worker);
  // A task is ready that the worker's own thread, which is idle, does not know of. Once: who is parked with
  // it and wakes for nothing comes by here again.
  template <class Host>
  void wake_owner(Host& host) noexcept TMPI_REQUIRES(inside_worker) {
    if (idle_ && !own_.woken && host.has_ready() && !S::omits(Step::kWakeOwner)) wake(own_);
  }
  template <class Host>
  void announce_for_parked(Host& host) noexcept TMPI_REQUIRES(inside_worker);
  bool parked_at_inbox() const noexcept TMPI_REQUIRES(inside_worker) {
    return idle_ || (inbox_parker_ != nullptr && inbox_parker_->place == Place::kInbox);
  }

  Parking parking_;
  Parker own_ TMPI_GUARDED_BY(inside_worker);  // the worker's own thread
  bool admits_ = false;
  bool idle_ TMPI_GUARDED_BY(inside_worker) =
      false;  // the worker's own thread has nothing to run: it spins or is parked
  Parker* blocked_ TMPI_GUARDED_BY(inside_worker) = nullptr;       // threads that wait, the latest first
  Parker* inbox_parker_ TMPI_GUARDED_BY(inside_worker) = nullptr;  // the one of them that parks at the inbox
  BasicMonitor<S> monitor_;
};

// The one way to sleep. Steps as in parking.hpp; between 2 and 6 the caller counts as parked.
template <class S, class Node>
template <class Host>
void BasicEntrance<S, Node>::park(Parker& self, Host& host) noexcept TMPI_UNCHECKED {
  const bool own = &self == &own_;
  const bool at_inbox = own || &self == inbox_parker_;
  std::uint32_t epoch = at_inbox ? parking_.epoch() : self.alone.epoch();
  if (at_inbox) {
    if (!parking_.announce([&]() TMPI_REQUIRES(inside_worker) { return host.look_again(); })) return;
    parking_.accept_baton();
  }
  self.place = at_inbox ? Place::kInbox : Place::kAlone;
  if (admits_) leave(host);
  if (S::omits(Step::kEpochFirst)) epoch = at_inbox ? parking_.epoch() : self.alone.epoch();
  bool watched = false;
  if (!at_inbox) {
    self.alone.wait(epoch, 0);
  } else {
    watched = own ? host.sleep(epoch) : parking_.wait(epoch);
  }
  if (admits_) monitor_.lock();
  self.place = Place::kNowhere;
  if (watched) parking_.take_baton();
}

template <class S, class Node>
template <class Host>
void BasicEntrance<S, Node>::idle(Host& host) noexcept {
  idle_ = true;
  if (!S::omits(Step::kForget)) own_.woken = false;
  host.spin();
  while (!host.has_ready() && !host.finished()) {
    park(own_, host);
    own_.woken = false;
    // This thread looks by itself now. For a thread that is parked here, too, whoever leaves announces it
    // again.
    parking_.retract();
    host.look();
    if (!host.has_ready() && host.progressed()) host.spin();
  }
  idle_ = false;
  parking_.pass_baton(parked_at_inbox());
}

template <class S, class Node>
template <class Host>
void BasicEntrance<S, Node>::block(Parker& self, Host& host) noexcept {
  self.next = blocked_;
  self.previous = nullptr;
  if (blocked_ != nullptr) blocked_->previous = &self;
  blocked_ = &self;
  for (host.look(); !self.woken; host.look()) {
    if (inbox_parker_ == nullptr && !idle_) inbox_parker_ = &self;
    park(self, host);
  }
  self.woken = false;
  if (inbox_parker_ == &self) {
    inbox_parker_ = nullptr;
    if (!idle_) parking_.retract();
  }
  (self.previous != nullptr ? self.previous->next : blocked_) = self.next;
  if (self.next != nullptr) self.next->previous = self.previous;
  parking_.pass_baton(parked_at_inbox());
}

template <class S, class Node>
void BasicEntrance<S, Node>::wake(Parker& thread) noexcept {
  thread.woken = true;
  if (thread.place == Place::kInbox) {
    parking_.notify();
  } else if (thread.place == Place::kAlone) {
    thread.alone.notify();
  }
}

template <class S, class Node>
template <class Host>
void BasicEntrance<S, Node>::leave(Host& host) noexcept TMPI_UNCHECKED {
  wake_owner(host);
  if (!idle_ && blocked_ != nullptr) announce_for_parked(host);
  if (parking_.holds_baton()) [[unlikely]]
    parking_.pass_baton(parked_at_inbox());
  monitor_.unlock();
}

// Nobody will be inside, and the worker's own thread is not idle: one of the blocked threads has to be parked
// at the inbox in its place, and the inbox has to say so.
template <class S, class Node>
template <class Host>
void BasicEntrance<S, Node>::announce_for_parked(Host& host) noexcept {
  if (inbox_parker_ == nullptr && !S::omits(Step::kAppoint)) {
    inbox_parker_ = blocked_;
    // Comes in, and parks again, at the inbox.
    if (inbox_parker_->place == Place::kAlone) inbox_parker_->alone.notify();
  }
  // On its way in: it will announce itself.
  if (inbox_parker_ == nullptr || inbox_parker_->place != Place::kInbox) return;
  // Somebody may have emptied the inbox while it slept.
  if (S::omits(Step::kAnnounceForParked)) return;
  if (parking_.announced()) return;
  while (!parking_.announced() &&
         !parking_.announce([&]() TMPI_REQUIRES(inside_worker) { return host.look_again(); }))
    host.look();
  // While it was not announced, who stopped watching could not see it, and it does not look itself.
  if (parking_.unwatched() && !S::omits(Step::kWatchForParked)) parking_.take_baton();
}

template <class S, class Node>
void BasicEntrance<S, Node>::pause() noexcept TMPI_UNCHECKED {
  if (!admits_) return S::relax();
  monitor_.unlock();
  for (int i = 0; i < S::kPauseSpins && parking_.empty(); ++i) S::relax();
  monitor_.lock();
}

}  // namespace tmpi::sched
