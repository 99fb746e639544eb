// A worker as parking.hpp and entrance.hpp see one, with counts in place of tasks: their Host in
// parking_check. What parks, wakes, lets in and hands over is the code of these headers itself.
#pragma once

#include <array>
#include <cstdint>
#include <new>
#include <utility>

#include "sched/door/entrance.hpp"
#include "sched/explore/explorer.hpp"
#include "sched/mover/opening.hpp"

namespace tmpi::sched::check {

template <class S>
struct Model;

/// What a message or event is for: a task of a worker, or one of its threads that blocks.
template <class S>
struct Target {
  Target* next = nullptr;  ///< in an inbox
  int worker = 0;
  BasicParker<S>* thread = nullptr;  ///< null: a task
  int home = -1;                     ///< the worker that takes it before others
};

template <class S>
struct ModelWorker {
  using Entrance = BasicEntrance<S, Target<S>>;
  using Worker = ModelWorker;

  ModelWorker(Model<S>& all, int number) : model(all), index(number), entrance(all.shared) {}

  // ---- Its own thread ----

  /// A task waits until it is made ready (the only one, so that nothing else runs meanwhile).
  void wait() {
    idling = true;
    owes_invitation = false;
    if (ready == 0) entrance.idle(*this);
    idling = false;
    if (std::exchange(may_come, false)) model.thieves.leave();
    if (owes_invitation) pass_invitation();
    require(ready > 0, "a worker ends its wait with nothing ready");
    --ready;
  }
  /// The worker's task is in user code until `done`.
  void compute_until(bool (*done)(void*)) {
    if (entrance.admits()) entrance.leave(*this);
    await(done, &model);
    if (entrance.admits()) entrance.enter();
  }
  /// It computes until `done`, and others may take what has been left here; `leaves`: its own task, which it leaves for
  /// that, may be among it.
  void compute_open_until(bool (*done)(void*), const Target<S>* leaves = nullptr) {
    if (leaves != nullptr) settled.store(leaves, std::memory_order_release);
    opening.open();
    if (!S::omits(Step::kTakeInOpen)) {
      for (int i = 0; i < Model<S>::kLeft; ++i) {
        if (model.left_for[i] == index) model.deliver_left(i);
      }
    }
    if (!entrance.parking().empty()) invite();
    if (leaves != nullptr) settled.store(nullptr, std::memory_order_release);
    if (done != nullptr) await(done, &model);
    opening.close();
    closed_again = true;
  }
  /// Something has been left in its inbox. Any thread.
  void invite(int but = -1) {
    opening.invite(model.shared.all, model.thieves,
                   [&](std::size_t i) { return static_cast<int>(i) != index && static_cast<int>(i) != but; });
  }
  /// Mover::look_again().
  bool finds_other_work() {
    if (!model.steals) return false;
    if (!S::omits(Step::kPassInvitation)) owes_invitation = true;
    if (!S::omits(Step::kJoinFirst)) join();
    const bool soon = steal();
    join();
    return soon || ready > 0;
  }
  void join() {
    if (!std::exchange(may_come, true)) model.thieves.join();
  }
  bool steal() {
    int taken = 0;
    bool soon = false, rest = false;
    for (int i = 0; model.steals && i < model.workers && ready == 0; ++i) {
      Worker& from = model.worker(i);
      if (i == index) continue;
      bool left_own = false;
      from.opening.raid(
          from.entrance.parking(), 2,
          [&](Target<S>& target, int round) {
            if (model.leaves && from.settled.load(std::memory_order_acquire) == &target) {
              soon = true;
              return false;
            }
            rest = rest || taken == model.worth_taking;
            const bool own = target.home == index;
            const bool takes = taken < model.worth_taking && own == (round == 0);
            left_own = left_own || (own && !takes && round == 0);
            return takes;
          },
          [&](Target<S>& target) {
            require(!from.closed_again, "a task is taken of a worker that is not open");
            require(target.home == index || !left_own, "a task is taken before one whose home it is");
            ++taken;
            ++ready;
          });
    }
    stolen += taken;
    if ((soon || rest) && !S::omits(Step::kInviteNext)) owes_invitation = true;
    return soon && !S::omits(Step::kAwaitLeft);
  }
  void pass_invitation() {
    for (int i = 0; i < model.workers; ++i) {
      Worker& other = model.worker(i);
      if (i != index && other.opening.invites(other.entrance.parking())) return other.invite(index);
    }
  }
  /// The worker's last task has ended.
  void end() {
    if (model.unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      for (auto* parking : model.parkings) {
        if (parking != nullptr) parking->wake();
      }
    }
    entrance.idle(*this);
    if (entrance.admits()) entrance.leave(*this);
  }

  // ---- Whoever is inside ----

  void make_ready(Target<S>& target) {
    if (target.worker != index) {
      model.parkings[static_cast<std::size_t>(target.worker)]->push(target);
    } else if (target.thread != nullptr) {
      entrance.wake(*target.thread);
    } else {
      ++ready;
    }
  }
  /// A thread of a rank waits until it is made ready.
  void block(BasicParker<S>& thread) { entrance.block(thread, *this); }

  // ---- The Host ----

  void look() {
    entrance.drain([this](Target<S>& target) { make_ready(target); });
    take_left();
    poll();
    if (idling && ready == 0) steal();
  }
  bool look_again() { return take_left() || finds_other_work(); }
  bool take_left() {
    bool found = false;
    for (int i = 0; i < Model<S>::kLeft; ++i) {
      if (model.left_for[i] != index || model.left[i].load(std::memory_order_seq_cst) == 0) continue;
      model.left[i].store(0, std::memory_order_seq_cst);
      make_ready(model.left_target[i]);
      found = true;
    }
    return found;
  }
  bool has_ready() const { return ready > 0; }
  bool finished() const { return model.ends && model.unfinished.load(std::memory_order_acquire) == 0; }
  void spin() {
    look();
    if (model.spins && !has_ready()) {
      entrance.pause();
      look();
    }
  }
  bool progressed() { return false; }
  bool sleep(std::uint32_t epoch) { return entrance.parking().wait(epoch); }

  void poll() {
    if (!model.has_network) return;
    const std::uint32_t come = model.arrived.exchange(0, std::memory_order_acq_rel);
    set_network(false);  // in one step with it
    for (int i = 0; i < Model<S>::kEvents; ++i) {
      if ((come >> i & 1) != 0) make_ready(model.events[i]);
    }
  }

  Model<S>& model;
  const int index;
  int ready = 0;
  bool idling = false;
  bool closed_again = false;
  bool owes_invitation = false;
  bool may_come = false;  // counted in model.thieves
  int stolen = 0;         // tasks
  Entrance entrance;
  BasicOpening<S, Target<S>> opening;
  Atomic<const Target<S>*> settled{nullptr};  // in whose flow of control it is
};

/// A job: workers, a network, and words in which something can be left for a worker outside of its inbox.
template <class S>
struct Model {
  static constexpr int kWorkers = 3, kEvents = 3, kLeft = 2;
  using Worker = ModelWorker<S>;
  using Parking = typename Worker::Entrance::Parking;

  Model(int count, bool with_network) : has_network(with_network), workers(count), unfinished(count) {
    for (int i = 0; i < count; ++i) parkings[i] = &(new (room[i]) Worker(*this, i))->entrance.parking();
    shared.all = {parkings.data(), static_cast<std::size_t>(count)};
    if (with_network) (void)shared.watch.set([](bool) noexcept { return Arming{.fd = 1}; });
    name_parts();
  }

  Worker& worker(int i) { return *std::launder(reinterpret_cast<Worker*>(room[i])); }

  // ---- Threads that are no workers ----

  /// From the network; in one step.
  void arrive(int event) {
    arrived.fetch_or(1u << event, std::memory_order_acq_rel);
    set_network(true);
  }
  /// Leaves something in word `i`, as a channel does.
  void leave(int i, std::memory_order order = std::memory_order_seq_cst) {
    left[i].store(1, order);
    worker(left_for[i]).entrance.parking().wake_if_parked();
  }

  /// The same where tasks move, for a worker that may compute and be open (Mover::open_for(), mpi/p2p/send.cpp).
  void leave_where_tasks_move(int i) {
    leave(i);
    if (!S::omits(Step::kLookWhetherOpen) && worker(left_for[i]).opening.is_open()) deliver_left(i);
  }
  /// The same for the task of target `i`, which may be about to leave worker 0 for worker 1 (mpi/p2p/send.cpp).
  void leave_for_one_that_moves(int i) {
    if (place.load(std::memory_order_relaxed) == 1) {
      parkings[1]->push(left_target[i]);
      return;
    }
    leave(i);
    if (!S::omits(Step::kLookWhetherMoved) && place.load(std::memory_order_seq_cst) == 1) deliver_moved(i);
  }
  void deliver_moved(int i) {
    if (left[i].exchange(0, std::memory_order_seq_cst) != 0) parkings[1]->push(left_target[i]);
  }
  /// What is left in word `i`, if nobody else has taken it, makes its task ready where others may take that.
  void deliver_left(int i) {
    if (left[i].exchange(0, std::memory_order_seq_cst) == 0) return;
    parkings[static_cast<std::size_t>(left_for[i])]->push(left_target[i]);
    worker(left_for[i]).invite();
  }

  typename Parking::Shared shared;
  BasicThieves<S> thieves;
  BasicEventcount<S> progress;  // of a thread that is no worker
  std::array<Parking*, kWorkers> parkings = {};
  bool has_network;
  bool ends = false;     // the scenario has the end of a job in it; else steps are saved
  bool steals = false;   // an idle worker takes tasks of others
  bool leaves = false;   // ... some of which may just be being left
  int worth_taking = 3;  // ... so many at a time
  bool spins = false;    // an idle worker does not park at once
  int workers;
  Atomic<int> unfinished;
  Atomic<std::uint32_t> arrived{0};
  Target<S> events[kEvents];
  Atomic<int> left[kLeft] = {};
  Atomic<int> place{0};  // where a task is that moves
  int left_for[kLeft] = {-1, -1};
  Target<S> left_target[kLeft];
  Target<S> messages[3];
  BasicParker<S> threads[2];
  bool done[4] = {};  // parts of the scenario
  alignas(64) std::byte room[kWorkers][(sizeof(Worker) + 63) / 64 * 64];

 private:
  void name_parts() {
    name(&unfinished, "unfinished");
    name(&arrived, "arrived");
    name(&left[0], "left[0]");
    name(&left[1], "left[1]");
    name(&place, "place");
    name(&shared, "the watch");
    name(&thieves, "the thieves");
    for (int i = 0; i < workers; ++i) {
      name(&worker(i).opening, i == 0 ? "opening 0" : "another opening");
      name(&worker(i).entrance, i == 0 ? "inbox 0" : i == 1 ? "inbox 1" : "inbox 2");
    }
  }
};

}  // namespace tmpi::sched::check
