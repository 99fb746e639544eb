// How a worker hands its tasks over to others (move.hpp, docs/load-balance.md). Nothing of this runs in a job whose tasks
// stay.
#include <algorithm>
#include <utility>

#include "sched/worker.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {
namespace {

constexpr double kPoll = 1e-6;  // s: what a task is away for between two polls is no work

// Nothing but where its stack is being used keeps it on its worker.
bool bound_to_none(const Task& task) noexcept {
  return task.kind == TaskKind::kRank && task.context != nullptr &&
         task.moving.anchors.load(std::memory_order_relaxed) == 0;
}

}  // namespace

// Of a task of this worker that does not run: it is in the ready queue.
bool Worker::movable(const Task& task) const noexcept {
  return &task != running_ && bound_to_none(task);
}

void Worker::send(Task& task, Worker& to) noexcept {
  if (task.moving.target.exchange(-1, std::memory_order_relaxed) >= 0 && departing_ > 0) --departing_;
  residents_.fetch_sub(1, std::memory_order_relaxed);
  to.settle();
  balancer_->count_move();
  task.moving.fresh = true;
  task.set_state(TaskState::kReady);
  task.worker = &to;
  // From here on it is the other's. push() publishes.
  to.parking().push(task);
  to.invite();
}

void Worker::account() noexcept {
  const std::uint64_t now = timers::now_ticks();
  const std::uint64_t used = now - std::exchange(began_, now);
  Task* const task = running_;
  if (task == nullptr || task->kind == TaskKind::kHelper) return;
  Moving& moving = task->moving;
  moving.fresh = false;
  moving.spent.store(moving.spent.load(std::memory_order_relaxed) + used, std::memory_order_relaxed);
  // The longest of late: most turns of a rank are short, those between two messages of a step.
  const std::uint64_t slot = moving.slot.load(std::memory_order_relaxed);
  moving.slot.store(std::max(used, slot - slot / 8), std::memory_order_relaxed);
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

// At every switch, before the next task is chosen.
__attribute__((noinline)) void Worker::balance() noexcept {
  account();
  if (entrance_.admits() || ready_.empty()) return;
  if (balancer_->rotates()) return rotate();
  if (!balancer_->plans()) return;
  balancer_->at_switch(began_);
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
  if (to == nullptr) return;
  while (Task* task = ready_.take([this](const Task& one) { return !one.moving.fresh && movable(one); }))
    send(*task, *to);
}

void Worker::send_planned() noexcept {
  const auto planned = [this](const Task& task) {
    const int target = task.moving.target.load(std::memory_order_relaxed);
    return target >= 0 && target != index_ && !task.moving.fresh && movable(task) &&
           !balancer_->workers()[static_cast<std::size_t>(target)]->closed();
  };
  Task* task = ready_.take(planned);
  // Some have been taken by others meanwhile.
  if (task == nullptr && ++misses_ % 16 == 0) departing_ = balancer_->departing(*this);
  for (; task != nullptr; task = ready_.take(planned)) {
    const int target = task->moving.target.load(std::memory_order_relaxed);
    // A new plan may have come in between.
    Worker& to = target >= 0 ? *balancer_->workers()[static_cast<std::size_t>(target)] : *this;
    if (&to == this) {
      ready_.push(*task);
      return;
    }
    send(*task, to);
  }
}

// While `next`, which is about to run, takes long, the others may be taken by whoever has nothing to run.
__attribute__((noinline)) void Worker::open_for(const Task& next) noexcept {
  // What it waits for may come before it has been switched to; then it must not be found in the inbox.
  if (next.resumed_early) return;
  const std::uint64_t slot = next.moving.slot.load(std::memory_order_relaxed);
  if (!balancer_->steals() || slot < balancer_->long_slot() || entrance_.admits()) return;
  // As many as cost little beside the turn. Those that would run last: who comes to the inbox later comes after them.
  int stay =
      ready_.length() - static_cast<int>(std::min<std::uint64_t>(slot / balancer_->offered_in(), 1 << 20));
  Task* task = ready_.take_all([&](const Task& one) { return stay-- <= 0 && movable(one) && &one != &next; });
  while (task != nullptr) parking().push(*std::exchange(task, task->next));
  opening_.open();
  opened_ = true;
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
__attribute__((noinline)) void Worker::invite() noexcept {
  if (!opening_.is_open() || balancer_->idle() == 0) return;
  for (const auto& other : balancer_->workers()) {
    if (other.get() == this || other->closed() || !other->parking().announced()) continue;
    return other->parking().wake_if_parked();
  }
}

bool Worker::can_steal() const noexcept {
  if (!balancer_->steals() || closed()) return false;
  return std::ranges::any_of(balancer_->workers(),
                             [this](const auto& other) { return other.get() != this && other->invites(); });
}

// As much as is worth the way; when that has been done there is another look.
void Worker::steal() noexcept {
  if (!balancer_->steals() || closed()) return;
  const auto& workers = balancer_->workers();
  std::uint64_t taken = 0;
  for (std::size_t i = 1; i < workers.size() && ready_.empty(); ++i) {
    Worker& from = *workers[(static_cast<std::size_t>(index_) + i) % workers.size()];
    const auto takes = [&](const Task& task) {
      // In this order: one that is just being left must not be looked at. acquire: what it has left is seen.
      return taken < balancer_->worth_taking() && from.settled_.load(std::memory_order_acquire) != &task &&
             bound_to_none(task) &&
             !task.interrupt_queued.load(std::memory_order_seq_cst);  // in a list of the other worker's
    };
    from.opening_.raid(from.parking(), takes, [&](Task& task) {
      taken += 1 + task.moving.slot.load(std::memory_order_relaxed);
      receive(task, from);
    });
  }
}

void Worker::receive(Task& task, Worker& from) noexcept {
  from.residents_.fetch_sub(1, std::memory_order_relaxed);
  settle();
  balancer_->count_move();
  task.moving.fresh = true;
  // After its turn it goes where the plan wants it.
  const int assigned = task.moving.assigned.load(std::memory_order_relaxed);
  task.moving.target.store(assigned == index_ ? -1 : assigned, std::memory_order_relaxed);
  if (assigned >= 0 && assigned != index_) ++departing_;
  task.monitored.store(false, std::memory_order_relaxed);
  task.worker = this;
  task.set_state(TaskState::kReady);
  ready_.push(task);
}

// Where the worker has nothing to run, or its task polls.
void Worker::look_around() noexcept {
  if (idling_ && ready_.empty()) steal();
}

void Worker::begin_idle() noexcept {
  idling_ = true;
  balancer_->change_idle(1);
}

void Worker::end_idle() noexcept {
  idling_ = false;
  balancer_->change_idle(-1);
  began_ = timers::now_ticks();
}

// A task that goes on at once has not been in the ready queue.
__attribute__((noinline)) void Worker::move_after_wait(Task& self) noexcept {
  if (self.moving.fresh) return;
  Worker* to = nullptr;
  if (balancer_->rotates()) {
    to = next_open();
  } else if (const int target = self.moving.target.load(std::memory_order_relaxed); target >= 0) {
    to = balancer_->workers()[static_cast<std::size_t>(target)].get();
  }
  if (to != nullptr) move(self, *to);
}

Moved Worker::move(Task& self, Worker& to) noexcept {
  if (&self != running_ || resume_next_ != nullptr || self.kind != TaskKind::kRank || self.entry == nullptr ||
      self.moving.anchors.load(std::memory_order_relaxed) > 0)
    return Moved::kAnchored;
  if (&to == this) return Moved::kYes;
  if (closed() || to.closed()) return Moved::kThreads;
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
  return this_worker()->owns(task);
}

Moved move_to(int worker) noexcept {
  Task& self = *current();
  Balancer* const balancer = self.worker->balancer();
  if (balancer == nullptr) return Moved::kStationary;
  return self.worker->move(self, *balancer->workers()[static_cast<std::size_t>(worker)]);
}

void detail::step_done(int tasks) noexcept {
  Worker& here = *this_worker();
  here.account();
  here.balancer()->step(tasks, timers::now_ticks());
}

void plan_soon() noexcept {
  if (Balancer* balancer = the_balancer()) balancer->plan_soon();
}

std::uint64_t moves() noexcept {
  const Balancer* balancer = the_balancer();
  return balancer == nullptr ? 0 : balancer->moves();
}

}  // namespace tmpi::sched
