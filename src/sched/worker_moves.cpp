// How a worker hands its tasks over to others (move.hpp, docs/load-balance.md). Nothing of this runs in a job whose tasks
// stay.
#include <utility>

#include "sched/worker.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {
namespace {

constexpr double kPoll = 1e-6;  // s: what a task is away for between two polls is no work

}  // namespace

// Of a task of this worker that does not run: it is in the ready queue.
bool Worker::movable(const Task& task) const noexcept {
  return &task != running_ && !task.helper && !task.is_thread && task.context != nullptr &&
         task.moving.anchors.load(std::memory_order_relaxed) == 0;
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
}

void Worker::account() noexcept {
  const std::uint64_t now = timers::now_ticks();
  const std::uint64_t used = now - std::exchange(began_, now);
  Task* const task = running_;
  if (task == nullptr || task->helper) return;
  Moving& moving = task->moving;
  moving.fresh = false;
  moving.spent.store(moving.spent.load(std::memory_order_relaxed) + used, std::memory_order_relaxed);
  moving.slot.store((3 * moving.slot.load(std::memory_order_relaxed) + used) / 4, std::memory_order_relaxed);
}

void Worker::polled_in_vain() noexcept {
  static const std::uint64_t poll = timers::ticks(kPoll);
  const std::uint64_t now = timers::now_ticks();
  if (now - began_ < poll) {
    began_ = now;
  } else {
    account();
  }
}

// At every switch, before the next task is chosen.
__attribute__((noinline)) void Worker::balance() noexcept {
  account();
  if (entrance_.admits() || ready_.empty()) return;
  if (balancer_->rotates()) return rotate();
  if (balancer_->plans()) {
    balancer_->at_switch(began_);
    if (const std::uint64_t number = balancer_->plan_number(); number != plan_seen_) {
      plan_seen_ = number;
      departing_ = balancer_->departing(*this);
    }
    if (departing_ > 0) send_planned();
  }
  if (balancer_->steals() && ready_.length() > 1 && balancer_->idle().load(std::memory_order_relaxed) > 0)
    share();
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
    return target >= 0 && target != index_ && movable(task) &&
           !balancer_->workers()[static_cast<std::size_t>(target)]->closed();
  };
  while (Task* task = ready_.take(planned)) {
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

// Half of those that have to wait for long, and would run last, go to a worker that idles.
void Worker::share() noexcept {
  const int kept = ready_.length() - ready_.length() / 2;
  const auto goes = [&](const Task& task, int position) {
    return position >= kept && task.moving.target.load(std::memory_order_relaxed) < 0 && movable(task);
  };
  std::uint64_t wait = 0;
  int position = 0;
  bool any = false;
  ready_.for_each([&](const Task& task) {
    wait += task.moving.slot.load(std::memory_order_relaxed);
    any |= goes(task, position++);
  });
  if (!any || wait < balancer_->worth_moving()) return;
  // Who claims it sends something: it does not look by itself.
  Worker* const to = balancer_->claim_idle(*this);
  if (to == nullptr) return;
  for (;;) {
    position = 0;
    Task* const task = ready_.take([&](const Task& one) { return goes(one, position++); });
    if (task == nullptr) return;
    send(*task, *to);
  }
}

bool Worker::claim_idle() noexcept {
  if (!idling_.load(std::memory_order_relaxed) || !idling_.exchange(false, std::memory_order_relaxed))
    return false;
  balancer_->idle().fetch_sub(1, std::memory_order_relaxed);
  return true;
}

void Worker::begin_idle() noexcept {
  if (!idling_.exchange(true, std::memory_order_relaxed))
    balancer_->idle().fetch_add(1, std::memory_order_relaxed);
}

void Worker::end_idle() noexcept {
  claim_idle();
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
  if (&self != running_ || resume_next_ != nullptr || self.helper || self.is_thread ||
      self.entry == nullptr || self.moving.anchors.load(std::memory_order_relaxed) > 0)
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
  self.worker->be_interrupted(self);  // what came while it was between the two
}

// ---- The contract's free functions (move.hpp) ----

namespace {

Balancer* the_balancer() noexcept {
  Worker* const here = this_worker();
  return here == nullptr ? nullptr : here->balancer();
}

}  // namespace

bool is_neighbour(const Task& task) noexcept {
  return task.worker == this_worker();
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
