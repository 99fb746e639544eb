// How a worker hands its tasks over to others (move.hpp, docs/load-balance.md). Nothing of this runs in a job whose tasks
// stay.
#include <sched.h>

#include <algorithm>
#include <utility>

#include "sched/worker.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {
namespace {

constexpr std::uint64_t kTurns = 32;  // whose mean is kept
constexpr double kPoll = 1e-6;        // s: what a task is away for between two polls is no work

// Nothing but where its stack is being used keeps it on its worker.
bool bound_to_none(const Task& task) noexcept {
  return task.kind == TaskKind::kRank && task.context != nullptr &&
         task.anchors.load(std::memory_order_relaxed) == 0;
}

// Ticks that it is likely to run when it goes on.
std::uint64_t work_of(const Task& task) noexcept {
  return 1 + task.moving->slot.load(std::memory_order_relaxed);
}

}  // namespace

// Of a task of this worker that does not run: it is in the ready queue.
bool Worker::movable(const Task& task) const noexcept {
  return &task != running_ && bound_to_none(task);
}

// By whoever hands it over, whose it is until it has been published.
void Worker::welcome(Task& task) noexcept {
  settle();
  came_.fetch_add(1, std::memory_order_relaxed);
  std::atomic<std::uint64_t>& moves = task.moving->moves;
  moves.store(moves.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  task.moving->fresh = true;
}

void Worker::send(Task& task, Worker& to) noexcept {
  // A later plan's word stays.
  int planned = to.index_;
  if (task.moving->target.compare_exchange_strong(planned, -1, std::memory_order_relaxed) && departing_ > 0)
    --departing_;
  residents_.fetch_sub(1, std::memory_order_relaxed);
  to.welcome(task);
  task.set_state(TaskState::kReady);
  task.worker = &to;
  tell_moved(task, to);
  // From here on it is the other's. push() publishes.
  to.parking().push(task);
  to.invite();
}

// One that has been sent here has come.
void Worker::take_over(Task& task) noexcept {
  task.monitored.store(entrance_.admits(), std::memory_order_relaxed);
  const int target = task.moving->target.load(std::memory_order_relaxed);
  if (target >= 0 && target != index_) ++departing_;  // a plan has been made meanwhile
}

void Worker::account() noexcept {
  static const std::uint64_t poll = timers::ticks(kPoll);
  const std::uint64_t now = timers::now_ticks();
  const std::uint64_t used = now - std::exchange(began_, now);
  const bool looked = std::exchange(looked_, false);
  Task* const task = running_;
  if (task == nullptr || task->kind == TaskKind::kHelper) return;
  Moving& moving = *task->moving;
  moving.fresh = false;
  moving.spent.store(moving.spent.load(std::memory_order_relaxed) + used, std::memory_order_relaxed);
  // It has looked for a message, found none and waits: one turn, not two.
  if (looked && used < poll) return;
  // The longest of late: most turns of a rank are short, those between two messages of a step.
  const std::uint64_t slot = moving.slot.load(std::memory_order_relaxed);
  moving.slot.store(std::max(used, slot - slot / 8), std::memory_order_relaxed);
  const std::uint64_t mean = moving.mean.load(std::memory_order_relaxed);
  moving.mean.store(mean - mean / kTurns + used / kTurns, std::memory_order_relaxed);
}

void Worker::polled_in_vain() noexcept {
  static const std::uint64_t poll = timers::ticks(kPoll);
  const std::uint64_t now = timers::now_ticks();
  if (now - began_ < poll) {
    began_ = now;
  } else {
    account();
  }
  open_for(*running_);  // a look has closed it
}

// A turn ends with a look for messages: who looks does not compute. Not before a turn for which the worker would open:
// who finds its message goes on without a scheduling point.
__attribute__((noinline)) bool Worker::lone_where_tasks_move() noexcept {
  if (!only_balances()) return false;
  looked_ = false;  // each look ends a turn, also one that follows another
  account();
  looked_ = true;
  return running_ == nullptr || !is_worth_opening(*running_);
}

// At every switch, before the next task is chosen.
__attribute__((noinline)) void Worker::balance() noexcept {
  account();
  follow_memory();
  if (entrance_.admits() || ready_.empty()) return;
  if (balancer_->rotates()) return rotate();
  if (balancer_->plans() || balancer_->steals()) balancer_->at_switch(began_);
  if (const std::uint64_t number = balancer_->plan_number(); number != plan_seen_) {
    plan_seen_ = number;
    departing_ = balancer_->departing(*this);
  }
  if (departing_ > 0) send_planned();
}

Worker* Worker::next_open() const noexcept {
  const auto& workers = balancer_->workers();
  for (std::size_t i = 1; i < workers.size(); ++i) {
    Worker& other = *workers[(static_cast<std::size_t>(index_) + i) % workers.size()];
    if (!other.closed()) return &other;
  }
  return nullptr;
}

void Worker::rotate() noexcept {
  Worker* const to = next_open();
  if (to == nullptr || !deliver_left()) return;
  while (Task* task = ready_.take([this](const Task& one) { return !one.moving->fresh && movable(one); }))
    send(*task, *to);
}

void Worker::send_planned() noexcept {
  const auto planned = [this](const Task& task) {
    const int target = task.moving->target.load(std::memory_order_relaxed);
    return target >= 0 && target != index_ && !task.moving->fresh && movable(task) &&
           !balancer_->workers()[static_cast<std::size_t>(target)]->closed();
  };
  Task* task = ready_.take(planned);
  // Some have been taken by others meanwhile.
  if (task == nullptr && ++misses_ % 16 == 0) departing_ = balancer_->departing(*this);
  if (task != nullptr && !deliver_left()) {
    ready_.push(*task);
    return;
  }
  for (; task != nullptr; task = ready_.take(planned)) {
    const int target = task->moving->target.load(std::memory_order_relaxed);
    // A new plan may have come in between.
    Worker& to = target >= 0 ? *balancer_->workers()[static_cast<std::size_t>(target)] : *this;
    if (&to == this) {
      ready_.push(*task);
      return;
    }
    send(*task, to);
  }
}

bool Worker::is_worth_opening(const Task& next) const noexcept {
  const Moving& moving = *next.moving;
  if (!balancer_->steals() || moving.slot.load(std::memory_order_relaxed) < balancer_->long_slot())
    return false;
  // One of many short turns may be long by chance: those who pass messages on, all the time, stay together.
  return has_company() && !entrance_.admits() &&
         moving.mean.load(std::memory_order_relaxed) >= balancer_->long_mean();
}

// While `next`, which is about to run, takes long, the others may be taken by whoever has nothing to run.
__attribute__((noinline)) void Worker::open_for(const Task& next) noexcept {
  // What it waits for may come before it has been switched to; then it must not be found in the inbox.
  if (next.resumed_early) return;
  if (!is_worth_opening(next)) return;
  const std::uint64_t slot = next.moving->slot.load(std::memory_order_relaxed);
  // As many as cost little beside the turn. Those that would run last: who comes to the inbox later comes after them.
  int stay =
      ready_.length() - static_cast<int>(std::min<std::uint64_t>(slot / balancer_->offered_in(), 1 << 20));
  if (!deliver_left()) return;
  Task* task = ready_.take_all([&](const Task& one) { return stay-- <= 0 && movable(one) && &one != &next; });
  std::uint64_t offered = 0;
  while (task != nullptr) {
    offered += work_of(*task);
    parking().push(*std::exchange(task, task->next));
  }
  offered_.store(offered, std::memory_order_relaxed);
  opening_.open();
  opened_ = true;
  // Who has not seen that it is open has left here what would wait now (is_open()).
  if (drain_hook_ != nullptr) drain_hook_(index_);
  if (!parking().empty()) invite();
}

void Worker::close_opening() noexcept {
  opened_ = false;
  opening_.close();
}

void Worker::close() noexcept {
  if (opened_) close_opening();
  closed_.store(true, std::memory_order_relaxed);
}

__attribute__((noinline)) void Worker::make_ready_specially(Task& task) noexcept {
  if (task.kind == TaskKind::kThread) return entrance_.wake(static_cast<ThreadTask&>(task).parker);
  task.set_state(TaskState::kReady);
  if (!opened_) {
    ready_.push(task);
    if (task.kind == TaskKind::kHelper && attendant_ != nullptr) helper_is_ready();
    return;
  }
  parking().push(task);
  invite();
}

// Something has been left in the inbox of this worker, which may be open. Any thread.
__attribute__((noinline)) void Worker::invite(const Worker* but) noexcept {
  opening_.invite(shared_.parkings, shared_.thieves, [this, but](std::size_t i) {
    const Worker* const other = shared_.workers[i].get();
    return other != this && other != but && !other->closed();
  });
}

// It has announced that it parks: who leaves something for whoever idles may wake it, and nobody else. True: it must not
// park.
bool Worker::finds_other_work() noexcept {
  if (!balancer_->steals() || closed()) return false;
  owes_invitation_ = true;
  if (!std::exchange(may_come_, true)) shared_.thieves.join();
  const bool soon = steal();
  if (soon && shared_.oversubscribed) sched_yield();  // who is leaving the task may have no core
  return soon || has_ready();
}

// Of the others that are open and have something waiting, the one with most work, the next one if there are several;
// null: there is none. A hint: what has become ready there since it has opened is not counted.
Worker* Worker::fullest_open() const noexcept {
  const auto& workers = balancer_->workers();
  Worker* fullest = nullptr;
  std::uint64_t most = 0;
  for (std::size_t i = 1; i < workers.size(); ++i) {
    Worker& other = *workers[(static_cast<std::size_t>(index_) + i) % workers.size()];
    if (!other.invites()) continue;
    const std::uint64_t offered = other.offered_.load(std::memory_order_relaxed);
    if (fullest != nullptr && offered <= most) continue;
    fullest = &other;
    most = offered;
  }
  return fullest;
}

// As much as is worth the way; when that has been done there is another look. True if there is a task that is just
// being left.
bool Worker::steal() noexcept {
  if (!balancer_->steals() || closed()) return false;
  const auto& workers = balancer_->workers();
  std::uint64_t taken = 0;
  bool soon = false, rest = false;
  Worker* const fullest = fullest_open();
  if (fullest == nullptr) return false;
  for (std::size_t i = 0; i < workers.size() && ready_.empty(); ++i) {
    // That one first, then the others in turn.
    Worker& from = i == 0 ? *fullest : *workers[(static_cast<std::size_t>(index_) + i) % workers.size()];
    if (i > 0 && &from == fullest) continue;
    const auto takes = [&](const Task& task, int round) {
      // In this order: one that is just being left must not be looked at. acquire: what it has left is seen.
      if (from.settled_.load(std::memory_order_acquire) == &task) {
        soon = true;
        return false;
      }
      if (!bound_to_none(task) ||
          task.interrupt_queued.load(std::memory_order_seq_cst))  // in a list of the other worker's
        return false;
      const Fit fit = balancer_->fit(task, from, *this);
      const bool now = static_cast<int>(fit) == round;
      if (now && (fit == Fit::kParted ? taken == 0 : taken < balancer_->worth_taking())) return true;
      rest = rest || now || fit == Fit::kStays;  // for another worker
      return false;
    };
    from.opening_.raid(from.parking(), kRounds, takes, [&](Task& task) {
      const std::uint64_t work = work_of(task), offered = from.offered_.load(std::memory_order_relaxed);
      taken += work;
      from.offered_.store(offered - std::min(work, offered), std::memory_order_relaxed);
      receive(task, from);
    });
  }
  // Who has parked meanwhile may have seen an empty inbox.
  if (soon || rest) owes_invitation_ = true;
  return soon;
}

// It goes to work. Also if it has taken something: it may have been woken once more since.
__attribute__((noinline)) void Worker::pass_invitation() noexcept {
  for (const auto& other : balancer_->workers()) {
    if (other.get() != this && other->invites()) return other->invite(this);
  }
}

void Worker::receive(Task& task, Worker& from) noexcept {
  from.residents_.fetch_sub(1, std::memory_order_relaxed);
  welcome(task);
  // After its turn it goes where it belongs; if nobody plans that, it stays: it would be taken again. Unless those to
  // whom it talks are where it was.
  const int partners = balancer_->fit(task, from, *this) == Fit::kParted ? from.index_ : -1;
  const int wanted = task.moving->wanted(balancer_->plans() ? task.home : partners);
  const bool goes_back =
      wanted >= 0 && wanted != index_ && !balancer_->workers()[static_cast<std::size_t>(wanted)]->closed();
  task.moving->target.store(goes_back ? wanted : -1, std::memory_order_relaxed);
  if (goes_back) ++departing_;
  task.monitored.store(false, std::memory_order_relaxed);
  task.worker = this;
  tell_moved(task, *this);
  task.set_state(TaskState::kReady);
  ready_.push(task);
}

// Where the worker has nothing to run, or its task polls.
void Worker::look_around() noexcept {
  if (idling_.load(std::memory_order_relaxed) && ready_.empty() &&
      timers::now_ticks() - idle_since_ >= balancer_->patience())
    steal();
}

void Worker::begin_idle() noexcept {
  idling_.store(true, std::memory_order_relaxed);
  owes_invitation_ = false;
  idle_since_ = timers::now_ticks();
}

void Worker::end_idle() noexcept {
  idling_.store(false, std::memory_order_relaxed);
  if (std::exchange(may_come_, false)) shared_.thieves.leave();
  if (owes_invitation_) pass_invitation();
  began_ = timers::now_ticks();
  follow_memory();
}

// What moving pages takes is no task's time.
void Worker::follow_memory() noexcept {
  Follower* const follower = balancer_->follower();
  if (follower != nullptr && follower->look(began_)) began_ = timers::now_ticks();
}

// A task that goes on at once has not been in the ready queue.
__attribute__((noinline)) void Worker::move_after_wait(Task& self) noexcept {
  if (self.moving->fresh) return;
  Worker* to = nullptr;
  if (balancer_->rotates()) {
    to = next_open();
  } else if (const int target = self.moving->target.load(std::memory_order_relaxed); target >= 0) {
    to = balancer_->workers()[static_cast<std::size_t>(target)].get();
  }
  if (to != nullptr) move(self, *to, Whose::kThePlans);
}

Moved Worker::move(Task& self, Worker& to, Whose whose) noexcept {
  if (&self != running_ || resume_next_ != nullptr || self.kind != TaskKind::kRank || self.entry == nullptr ||
      self.anchors.load(std::memory_order_relaxed) > 0)
    return Moved::kAnchored;
  if (&to == this) return Moved::kYes;
  if (closed() || to.closed()) return Moved::kThreads;
  if (!deliver_left()) return Moved::kNoMemory;
  if (whose == Whose::kItsOwn) {
    self.moving->assigned.store(to.index_, std::memory_order_relaxed);
    self.moving->target.store(-1, std::memory_order_relaxed);
  }
  depart(self, to);
  return Moved::kYes;
}

// Its context is saved when it has been left: the root, the worker's own flow of control, hands it over, and takes the
// worker from there.
void Worker::depart(Task& self, Worker& to) noexcept {
  account();
  leaving_ = &self;
  leaving_to_ = &to;
  switches_.store(switches_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  report(&self, nullptr);
  running_ = nullptr;
  self.set_state(TaskState::kReady);
  ult::switch_to(thread_, self, root_);
  self.worker->go_on(self);  // what came while it was between the two
}

// ---- The contract's free functions (move.hpp) ----

namespace {

Balancer* the_balancer() noexcept {
  Worker* const here = this_worker();
  return here == nullptr ? nullptr : here->balancer();
}

}  // namespace

bool is_neighbour(const Task& task) noexcept {
  const Worker* const here = this_worker();  // null: a thread that is just leaving it
  return here != nullptr && here->owns(task);
}

Moved move_to(int worker) noexcept {
  Task& self = *current();
  Balancer* const balancer = self.worker->balancer();
  if (balancer == nullptr) return Moved::kStationary;
  return self.worker->move(self, *balancer->workers()[static_cast<std::size_t>(worker)],
                           Worker::Whose::kItsOwn);
}

void detail::step_done(int tasks) noexcept {
  Worker& here = *this_worker();
  here.account();
  here.balancer()->step(tasks, timers::now_ticks());
}

// What a message between workers costs each of them more, and its data, which come from the other core's cache. Little:
// what it has cost where the two are is part of the time that they have run.
void detail::count_message(Task& from, const Task& to, std::size_t bytes) noexcept {
  constexpr std::uint64_t kMessage = 40, kBytes = 20;  // ns; bytes of one
  Task& sender = from.rank_task != nullptr ? *from.rank_task : from;
  if (&sender != &to) sender.moving->peers.add(to.id, kMessage + bytes / kBytes);
}

void plan_soon() noexcept {
  if (Balancer* balancer = the_balancer()) balancer->plan_soon();
}

std::uint64_t moves() noexcept {
  const Scheduler* const all = scheduler();
  std::uint64_t sum = 0;
  for (int worker = 0; all != nullptr && worker < all->workers(); ++worker) sum += all->moves_to(worker);
  return sum;
}

}  // namespace tmpi::sched
