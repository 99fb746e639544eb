#include "sched/mover/mover.hpp"

#include <sched.h>

#include <algorithm>
#include <utility>

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

Mover::Mover(RunLoop& loop, LoopShared& shared, Thieves& thieves, Balancer& balancer) noexcept
    : Source(Reasons::kMoves, Cost::kMore),
      loop_(loop),
      shared_(shared),
      thieves_(thieves),
      balancer_(balancer) {}

bool Mover::deliver_left() const noexcept {
  const auto deliver = balancer_.hooks().deliver;
  return deliver == nullptr || deliver(index());
}

void Mover::tell_moved(Task& task, const Mover& to) const noexcept {
  if (const auto moved = balancer_.hooks().moved) moved(task, to.index());
}

Mover& Mover::next_after(std::size_t distance) const noexcept {
  const auto& movers = balancer_.movers();
  return *movers[(static_cast<std::size_t>(index()) + distance) % movers.size()];
}

// Of a task of this worker that does not run: it is in the ready queue.
bool Mover::movable(const Task& task) const noexcept {
  return &task != loop_.running() && bound_to_none(task);
}

// By whoever hands it over, whose it is until it has been published.
void Mover::welcome(Task& task) noexcept {
  loop_.settle();
  came_.fetch_add(1, std::memory_order_relaxed);
  std::atomic<std::uint64_t>& moves = task.moving->moves;
  moves.store(moves.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  task.moving->fresh = true;
}

void Mover::send(Task& task, Mover& to) noexcept {
  // A later plan's word stays.
  int planned = to.index();
  if (task.moving->target.compare_exchange_strong(planned, -1, std::memory_order_relaxed) && departing_ > 0)
    --departing_;
  loop_.unsettle();
  to.welcome(task);
  task.set_state(TaskState::kReady);
  task.worker = &to.loop_;
  tell_moved(task, to);
  // From here on it is the other's. push() publishes.
  to.loop_.parking().push(task);
  to.invite();
}

// One that has been sent here has come.
void Mover::take_over(Task& task) noexcept {
  task.monitored.store(loop_.door().admits(), std::memory_order_relaxed);
  const int target = task.moving->target.load(std::memory_order_relaxed);
  if (target >= 0 && target != index()) ++departing_;  // a plan has been made meanwhile
}

void Mover::account() noexcept {
  static const std::uint64_t poll = timers::ticks(kPoll);
  const std::uint64_t now = timers::now_ticks();
  const std::uint64_t used = now - std::exchange(began_, now);
  const bool looked = std::exchange(looked_, false);
  Task* const task = loop_.running();
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

void Mover::polled_in_vain() noexcept {
  static const std::uint64_t poll = timers::ticks(kPoll);
  const std::uint64_t now = timers::now_ticks();
  if (now - began_ < poll) {
    began_ = now;
  } else {
    account();
  }
  open_for(*loop_.running());  // a look has closed it
}

// A turn ends with a look for messages. Not before a turn for which the worker would open: who finds its message goes on
// without a scheduling point.
bool Mover::may_go_on() noexcept {
  looked_ = false;  // each look ends a turn, also one that follows another
  account();
  looked_ = true;
  return loop_.running() == nullptr || !is_worth_opening(*loop_.running());
}

// At every switch, before the next task is chosen.
void Mover::balance() noexcept {
  account();
  follow_memory();
  if (loop_.door().admits() || loop_.queue().empty()) return;
  if (balancer_.rotates()) return rotate();
  if (balancer_.plans() || balancer_.steals()) balancer_.at_switch(began_);
  if (const std::uint64_t number = balancer_.plan_number(); number != plan_seen_) {
    plan_seen_ = number;
    departing_ = balancer_.departing(*this);
  }
  if (departing_ > 0) send_planned();
}

Mover* Mover::next_open() const noexcept {
  for (std::size_t i = 1; i < balancer_.movers().size(); ++i) {
    Mover& other = next_after(i);
    if (!other.closed()) return &other;
  }
  return nullptr;
}

void Mover::rotate() noexcept {
  Mover* const to = next_open();
  if (to == nullptr || !deliver_left()) return;
  while (Task* task = loop_.queue().take([this](const Task& one) TMPI_REQUIRES(inside_worker) {
    return !one.moving->fresh && movable(one);
  }))
    send(*task, *to);
}

void Mover::send_planned() noexcept {
  const auto planned = [this](const Task& task) TMPI_REQUIRES(inside_worker) {
    const int target = task.moving->target.load(std::memory_order_relaxed);
    return target >= 0 && target != index() && !task.moving->fresh && movable(task) &&
           !balancer_.movers()[static_cast<std::size_t>(target)]->closed();
  };
  Task* task = loop_.queue().take(planned);
  // Some have been taken by others meanwhile.
  if (task == nullptr && ++misses_ % 16 == 0) departing_ = balancer_.departing(*this);
  if (task != nullptr && !deliver_left()) {
    loop_.queue().push(*task);
    return;
  }
  for (; task != nullptr; task = loop_.queue().take(planned)) {
    const int target = task->moving->target.load(std::memory_order_relaxed);
    // A new plan may have come in between.
    Mover& to = target >= 0 ? *balancer_.movers()[static_cast<std::size_t>(target)] : *this;
    if (&to == this) {
      loop_.queue().push(*task);
      return;
    }
    send(*task, to);
  }
}

bool Mover::is_worth_opening(const Task& next) const noexcept {
  const Moving& moving = *next.moving;
  if (!balancer_.steals() || moving.slot.load(std::memory_order_relaxed) < balancer_.long_slot())
    return false;
  // One of many short turns may be long by chance: those who pass messages on, all the time, stay together.
  return loop_.has_company() && !loop_.door().admits() &&
         moving.mean.load(std::memory_order_relaxed) >= balancer_.long_mean();
}

// While `next`, which is about to run, takes long, the others may be taken by whoever has nothing to run.
void Mover::open_for(const Task& next) noexcept {
  // What it waits for may come before it has been switched to; then it must not be found in the inbox.
  if (next.resumed_early) return;
  if (!is_worth_opening(next)) return;
  const std::uint64_t slot = next.moving->slot.load(std::memory_order_relaxed);
  // As many as cost little beside the turn. Those that would run last: who comes to the inbox later comes after them.
  int stay = loop_.queue().length() -
             static_cast<int>(std::min<std::uint64_t>(slot / balancer_.offered_in(), 1 << 20));
  if (!deliver_left()) return;
  Task* task = loop_.queue().take_all([&](const Task& one) TMPI_REQUIRES(inside_worker) {
    return stay-- <= 0 && movable(one) && &one != &next;
  });
  std::uint64_t offered = 0;
  while (task != nullptr) {
    offered += work_of(*task);
    loop_.parking().push(*std::exchange(task, task->next));
  }
  offered_.store(offered, std::memory_order_relaxed);
  opening_.open();
  loop_.divert(true);
  // Who has not seen that it is open has left here what would wait now (is_open()).
  loop_.take_in_what_is_left();
  if (!loop_.parking().empty()) invite();
}

void Mover::close_opening() noexcept {
  loop_.divert(false);
  opening_.close();
}

void Mover::close() noexcept {
  if (loop_.diverted()) close_opening();
  closed_.store(true, std::memory_order_relaxed);
}

void Mover::leave_for_others(Task& task) noexcept {
  loop_.parking().push(task);
  invite();
}

// Something has been left in the inbox of this worker, which may be open. Any thread.
void Mover::invite(const Mover* but) noexcept {
  opening_.invite(shared_.parkings, thieves_, [this, but](std::size_t i) {
    const Mover* const other = balancer_.movers()[i];
    return other != this && other != but && !other->closed();
  });
}

// It has announced that it parks: who leaves something for whoever idles may wake it, and nobody else. True: it must not
// park.
bool Mover::look_again() noexcept {
  if (!balancer_.steals() || closed()) return false;
  owes_invitation_ = true;
  if (!std::exchange(may_come_, true)) thieves_.join();
  const bool soon = steal();
  if (soon && shared_.oversubscribed) sched_yield();  // who is leaving the task may have no core
  return soon || !loop_.queue().empty();
}

// Of the others that are open and have something waiting, the one with most work, the next one if there are several;
// null: there is none. A hint: what has become ready there since it has opened is not counted.
Mover* Mover::fullest_open() const noexcept {
  Mover* fullest = nullptr;
  std::uint64_t most = 0;
  for (std::size_t i = 1; i < balancer_.movers().size(); ++i) {
    Mover& other = next_after(i);
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
bool Mover::steal() noexcept {
  if (!balancer_.steals() || closed()) return false;
  std::uint64_t taken = 0;
  bool soon = false, rest = false;
  Mover* const fullest = fullest_open();
  if (fullest == nullptr) return false;
  for (std::size_t i = 0; i < balancer_.movers().size() && loop_.queue().empty(); ++i) {
    // That one first, then the others in turn.
    Mover& from = i == 0 ? *fullest : next_after(i);
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
      const Fit fit = balancer_.fit(task, from, *this);
      const bool now = static_cast<int>(fit) == round;
      if (now && (fit == Fit::kParted ? taken == 0 : taken < balancer_.worth_taking())) return true;
      rest = rest || now || fit == Fit::kStays;  // for another worker
      return false;
    };
    from.opening_.raid(from.loop_.parking(), kRounds, takes, [&](Task& task) TMPI_REQUIRES(inside_worker) {
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
void Mover::pass_invitation() noexcept {
  for (Mover* const other : balancer_.movers()) {
    if (other != this && other->invites()) return other->invite(this);
  }
}

void Mover::receive(Task& task, Mover& from) noexcept {
  from.loop_.unsettle();
  welcome(task);
  // After its turn it goes where it belongs; if nobody plans that, it stays: it would be taken again. Unless those to
  // whom it talks are where it was.
  const int partners = balancer_.fit(task, from, *this) == Fit::kParted ? from.index() : -1;
  const int wanted = task.moving->wanted(balancer_.plans() ? task.home : partners);
  const bool goes_back =
      wanted >= 0 && wanted != index() && !balancer_.movers()[static_cast<std::size_t>(wanted)]->closed();
  task.moving->target.store(goes_back ? wanted : -1, std::memory_order_relaxed);
  if (goes_back) ++departing_;
  task.monitored.store(false, std::memory_order_relaxed);
  task.worker = &loop_;
  tell_moved(task, *this);
  task.set_state(TaskState::kReady);
  loop_.queue().push(task);
}

// Where the worker has nothing to run, or its task polls.
bool Mover::look() noexcept {
  if (idling_ && loop_.queue().empty() && timers::now_ticks() - idle_since_ >= balancer_.patience()) steal();
  return false;
}

void Mover::begin_idle() noexcept {
  idling_ = true;
  owes_invitation_ = false;
  idle_since_ = timers::now_ticks();
}

void Mover::end_idle() noexcept {
  idling_ = false;
  if (std::exchange(may_come_, false)) thieves_.leave();
  if (owes_invitation_) pass_invitation();
  began_ = timers::now_ticks();
  follow_memory();
}

// What moving pages takes is no task's time.
void Mover::follow_memory() noexcept {
  Follower* const follower = balancer_.follower();
  if (follower != nullptr && follower->look(began_)) began_ = timers::now_ticks();
}

// A task that goes on at once has not been in the ready queue.
void Mover::move_after_wait(Task& self) noexcept {
  if (self.moving->fresh) return;
  Mover* to = nullptr;
  if (balancer_.rotates()) {
    to = next_open();
  } else if (const int target = self.moving->target.load(std::memory_order_relaxed); target >= 0) {
    to = balancer_.movers()[static_cast<std::size_t>(target)];
  }
  if (to != nullptr) move(self, *to, Whose::kThePlans);
}

Moved Mover::move(Task& self, Mover& to, Whose whose) noexcept {
  if (&self != loop_.running() || loop_.handed_off() || self.kind != TaskKind::kRank ||
      self.entry == nullptr || self.anchors.load(std::memory_order_relaxed) > 0)
    return Moved::kAnchored;
  if (&to == this) return Moved::kYes;
  if (closed() || to.closed()) return Moved::kThreads;
  if (!deliver_left()) return Moved::kNoMemory;
  if (whose == Whose::kItsOwn) {
    self.moving->assigned.store(to.index(), std::memory_order_relaxed);
    self.moving->target.store(-1, std::memory_order_relaxed);
  }
  account();
  leaving_ = &self;
  leaving_to_ = &to;
  loop_.leave_for_root(self);
  return Moved::kYes;
}

bool Mover::hand_over_left() noexcept {
  if (leaving_ == nullptr) return false;
  send(*std::exchange(leaving_, nullptr), *leaving_to_);
  // What has been left for it here meanwhile, before anybody's turn (MoveHooks::moved).
  loop_.take_in_what_is_left();
  return true;
}

}  // namespace tmpi::sched
