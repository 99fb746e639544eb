#include "sched/worker/worker.hpp"

#include <sched.h>

#include "sched/door/rank_thread.hpp"

namespace tmpi::sched {

Worker::Worker(Shared& shared, int index) noexcept
    : RunLoop(shared, index),
      idling_(*this, shared.spin_ticks, shared.stall),
      arrivals_(*this),
      files_(*this),
      channels_(index),
      helpers_(*this, shared.stack_size, shared.exec_stacks),
      polls_(shared.polls),
      interrupt_hook_(shared.interrupt_hook) {
  list_sources();
}

Worker::~Worker() {
  if (Attending* const attendant = door().attendant()) attendant->stop();
}

// In this order they are looked at; only those that there are.
void Worker::list_sources() noexcept {
  Sources& sources = idling_.sources();
  sources = Sources();
  sources.add(arrivals_);
  sources.add(idling_.interrupts());
  sources.add(idling_.sleeping());
  sources.add(files_);
  if (mover_ != nullptr) sources.add(*mover_);
  if (channels_.has_hook()) sources.add(channels_);
  if (network_.is_there()) sources.add(network_);
}

void Worker::set_event_source(const EventSource& source) noexcept {
  network_.set(source);
  list_sources();
  look_outside_if(source.poll != nullptr, source.expected);
}

void Worker::set_drain_hook(DrainHook hook) noexcept {
  channels_.set(hook);
  list_sources();
  look_at_each_switch(hook);
}

void Worker::have_mover(Balancer& balancer) {
  auto& all = static_cast<Shared&>(shared());
  mover_ = std::make_unique<Mover>(*this, all, all.thieves, balancer);
  all.movers.push_back(mover_.get());
  arrivals_.set(*mover_);
  list_sources();
  reasons().let_tasks_move();
}

// ---- Choosing ----

// With what has come from elsewhere, and where tasks have slept, been interrupted or move.
Task* Worker::next_of_all() noexcept {
  arrivals_.look();
  if (const std::uint32_t why = reasons().now(); why != 0) [[unlikely]] {
    idling_.sources().look_for(why);
    if (Task* const task = idling_.interrupts().pop()) return task;
    if (mover_ != nullptr) mover_->balance();
  }
  Task* const next = pop_after_sources();
  if (mover_ != nullptr && next != nullptr) mover_->open_for(*next);
  return next;
}

Task* Worker::pop_next() noexcept {
  if (Task* const task = idling_.interrupts().pop()) return task;
  return queue().pop();
}

Task* Worker::idle() noexcept {
  for (;;) {
    if (mover_ != nullptr) mover_->begin_idle();
    door().entrance().idle(idling_);
    network_.leave_to_progress();
    if (mover_ != nullptr) mover_->end_idle();
    // What was urgent may have been dealt with meanwhile.
    if (Task* const task = pop_next()) {
      if (mover_ != nullptr) mover_->open_for(*task);
      return task;
    }
    if (finished()) return nullptr;
  }
}

Task* Worker::look_for_another() noexcept {
  idling_.look();
  Task* const next = pop_next();
  if (next == nullptr) {
    // A rank that polls must not keep the core from a worker that shares it, nor its threads out.
    if (door().admits_ranks()) {
      door().entrance().yield(idling_);
    } else if (shared().oversubscribed) {
      sched_yield();
    }
    if (mover_ != nullptr) mover_->polled_in_vain();
  } else if (mover_ != nullptr) {
    mover_->account();
    mover_->open_for(*next);
  }
  return next;
}

bool Worker::lone_though_watchful() noexcept {
  return reasons().now() == Reasons::kMoves && !diverted() && idling_.interrupts().empty() &&
         mover_->may_go_on();
}

bool Worker::anyone_ready() noexcept {
  idling_.glance();
  return !queue().empty() || idling_.interrupts().has_one();
}

__attribute__((noinline)) void Worker::make_ready_specially(Task& task) noexcept {
  if (task.kind == TaskKind::kThread) return door().entrance().wake(static_cast<ThreadTask&>(task).parker);
  task.set_state(TaskState::kReady);
  if (diverted()) return mover_->leave_for_others(task);
  queue().push(task);
  // The worker's own thread sees it at the latest when it leaves; another one may not come by again.
  if (task.kind == TaskKind::kHelper && door().attendant() != nullptr && !runs_here())
    door().attendant()->take_over();
}

// ---- A task waits, and goes on ----

// What interrupts a task is dealt with by itself, where it has been suspended. True if it was resumed for
// nothing else.
bool Worker::interrupted(Task& self) noexcept {
  const bool early = std::exchange(self.resumed_early, false);
  if (self.sleeper != nullptr) {
    // Whoever sleeps deals with it when it is in user code again: a handler may leave by longjmp.
    reasons().take_mark(self);
    self.sleeper->interrupted = true;
    const bool wakes = self.sleeper->listed;
    if (wakes) idling_.sleeping().remove(*self.sleeper);
    return early && !wakes;
  }
  while (reasons().take_mark(self)) {
    if (interrupt_hook_ != nullptr) interrupt_hook_(self);
  }
  return early;
}

// What has interrupted it while it ran or was ready is in no list any more.
bool Worker::wakes_at_once(Task& self) noexcept {
  if (!self.interrupted.load(std::memory_order_relaxed)) return false;
  interrupted(self);
  return self.sleeper != nullptr;
}

// False: it was resumed to be interrupted.
bool Worker::goes_on(Task& self) noexcept {
  if (mover_ != nullptr) mover_->settle_in(&self);
  // relaxed: if it is seen late, its worker will be told.
  if (self.interrupted.load(std::memory_order_relaxed) && interrupted(self)) return false;
  if (mover_ != nullptr) mover_->move_after_wait(self);
  return true;
}

void Worker::resumed(Task& self) noexcept {
  if (mover_ != nullptr) mover_->settle_in(&self);
  if (self.interrupted.load(std::memory_order_relaxed)) interrupted(self);
}

bool Worker::sleep_until(Task& self, std::uint64_t deadline) noexcept {
  Sleeper sleeper{deadline, &self};
  idling_.sleeping().add(sleeper);
  self.sleeper = &sleeper;
  block(self);
  self.sleeper = nullptr;
  return !sleeper.interrupted;
}

// ---- Begin and end ----

void Worker::begins(Task& task) noexcept {
  if (mover_ != nullptr) mover_->settle_in(&task);
  if (task.kind == TaskKind::kHelper) {
    task.inside = true;  // for ever
  } else if (task.monitored.load(std::memory_order_relaxed)) {
    leave();
  }
}

bool Worker::root_goes_on() noexcept {
  if (mover_ == nullptr) return false;
  mover_->settle_in(nullptr);
  return mover_->hand_over_left();
}

void Worker::ended() noexcept {
  inside_worker.assume();
  if (door().admits()) leave();
}

// ---- Threads, and the attendant ----

void Worker::admit(bool inside) noexcept {
  files_.prepare_for_threads();
  door().entrance().admit(inside);
}

namespace {

bool attendable(const Task& task) noexcept {
  return task.kind == TaskKind::kHelper && !static_cast<const HelperFiber&>(task).stays;
}

}  // namespace

bool Worker::has_ready_helper() noexcept {
  if (helpers_.busy() == 0 || door().entrance().idle()) return false;
  bool found = false;
  queue().for_each([&](const Task& task) { found = found || attendable(task); });
  return found;
}

HelperFiber* Worker::take_ready_helper() noexcept {
  return has_ready_helper() ? static_cast<HelperFiber*>(queue().take(attendable)) : nullptr;
}

}  // namespace tmpi::sched
