#include "sched/worker.hpp"

#include <sched.h>

#include <utility>

#include "base/spinlock.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {
namespace {

// initial-exec: one load, no call, also inside libtmpi.so (which is there from the start, never dlopen'ed
// late).
__attribute__((tls_model("initial-exec"))) thread_local Worker* t_worker = nullptr;
// Where it is written what runs on the calling thread. Not read through the worker: a rank's thread runs
// something else than the worker's.
__attribute__((tls_model("initial-exec"))) thread_local Task** t_running = nullptr;

void task_main(ult::Fiber& fiber) noexcept {
  Task& task = static_cast<Task&>(fiber);
  if (task.helper) {
    task.inside = true;  // for ever
  } else if (task.monitored) {
    task.worker->leave();
  }
  task.entry(task.argument);
  this_worker()->finish();
}

void set_state(Task& task, TaskState state) noexcept {
  task.state.store(state, std::memory_order_relaxed);
}

}  // namespace

__attribute__((noinline)) Worker* this_worker() noexcept {
  __asm__ volatile("" ::: "memory");
  return t_worker;
}

__attribute__((noinline)) void set_this_thread(Worker* worker, Task** running) noexcept {
  t_worker = worker;
  t_running = running;
}

// ---- Waking ----

void Worker::make_ready(Task& task, const Worker* here) noexcept {
  if (here == this) {
    make_ready_here(task);
  } else {
    inbox_.push(task);
  }
}

inline void Worker::make_ready_here(Task& task) noexcept {
  if (task.is_thread) [[unlikely]]
    return wake(static_cast<ThreadTask&>(task));
  set_state(task, TaskState::kReady);
  ready_.push(task);
}

void Worker::poke() noexcept {
  // One poke in the inbox is enough. acq_rel: whoever finds one there has its reason seen when drain_inbox()
  // clears the flag.
  if (!poked_.exchange(true, std::memory_order_acq_rel)) inbox_.push(poke_);
}

// Takes in what has come from other threads.
void Worker::drain_inbox() noexcept {
  for (Task* task = inbox_.take(); task != nullptr;) {
    Task* const after = task->next;
    if (task == &poke_) {
      poked_.exchange(false, std::memory_order_acq_rel);
    } else {
      make_ready_here(*task);
    }
    task = after;
  }
}

// ---- Choosing ----

inline Task* Worker::next_ready() noexcept {
  if (lender_ != nullptr) [[unlikely]]
    return std::exchange(lender_, nullptr);
  // Mail at every switch, so that a worker that is never idle keeps nobody waiting: one load of a line that
  // is in cache.
  if (inbox_.has_mail()) [[unlikely]]
    drain_inbox();
  if (drain_hook_ != nullptr) drain_hook_(index_);
  if (poll_ != nullptr &&
      (--until_clock_ == 0 || (expected_ != nullptr && expected_->load(std::memory_order_relaxed) > 0)))
      [[unlikely]]
    poll_at_switch();
  return ready_.pop();
}

// A look at the network may cost a system call.
__attribute__((noinline)) void Worker::poll_at_switch() noexcept {
  const std::uint64_t now = timers::now_ticks();
  const bool expectant = until_clock_ != 0;
  until_clock_ = kClockInterval;
  if (now - last_poll_ < (expectant ? shared_.expectant_ticks : shared_.quiet_ticks)) return;
  last_poll_ = now;
  poll_();
}

void Worker::look_after_mail() noexcept {
  drain_inbox();
  if (drain_hook_ != nullptr) drain_hook_(index_);
  if (poll_ != nullptr && poll_()) progressed_ = true;
}

Task* Worker::look_around() noexcept {
  look_after_mail();
  return ready_.pop();
}

// Until nothing has happened for a while: a message that comes in piece by piece keeps the worker awake.
Task* Worker::spin() noexcept {
  if (shared_.spin_ticks == 0) return look_around();
  std::uint64_t start = timers::now_ticks(), now = start;
  do {
    for (int i = 0; i < 8; ++i) {
      if (Task* task = look_around()) return task;
      if (all_finished()) return nullptr;
      cpu_relax();
    }
    now = timers::now_ticks();
    if (std::exchange(progressed_, false)) start = now;
  } while (now - start < shared_.spin_ticks);
  return nullptr;
}

// The ladder: spin, say that we sleep, look again, sleep. Null when all tasks have finished.
__attribute__((noinline)) Task* Worker::idle() noexcept {
  if (admits_threads_) return idle_shared();
  Task* task = spin();
  while (task == nullptr && !all_finished()) {
    const std::uint32_t rung = inbox_.bell();
    if (inbox_.announce_sleep()) {
      if ((drain_hook_ == nullptr || !drain_hook_(index_)) && sleep(rung)) watched_ = true;
      inbox_.stay_awake();
    }
    task = look_around();
    if (task == nullptr && std::exchange(progressed_, false)) task = spin();
  }
  hand_watch_over();
  return task;
}

// ---- Switching ----

void Worker::prepare(Task& task) noexcept {
  ult::prepare(task, task_main);
  task.monitored = admits_threads_;
}

inline void Worker::before_switch(Task* from, Task& to) noexcept {
  // A new task's first frame is laid by the worker that runs it: its stack is then on this worker's NUMA
  // node.
  if (to.context == nullptr) [[unlikely]]
    prepare(to);
  switches_.store(switches_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  report(from, &to);
  set_state(to, TaskState::kRunning);
  running_ = &to;
}

inline void Worker::switch_from(ult::Fiber& fiber, Task* from, Task& to) noexcept {
  before_switch(from, to);
  ult::switch_to(thread_, fiber, to);
  // Nothing more: the task may have come back on another worker.
}

void Worker::block(Task& self) noexcept {
  if (&self != running_) [[unlikely]]
    return block_elsewhere(self);
  set_state(self, TaskState::kBlocked);
  Task* from = &self;
  Task* next = next_ready();
  if (next == nullptr) {
    report(from, nullptr);
    next = idle();
    if (next == nullptr) leave_for_good();
    from = nullptr;
  }
  if (next != &self) return switch_from(self, from, *next);
  // Woken before it was left.
  if (from == nullptr) report(nullptr, &self);
  set_state(self, TaskState::kRunning);
}

void Worker::yield(Task& self) noexcept {
  if (&self != running_) [[unlikely]]
    return yield_elsewhere(self);
  if (ready_.empty() && lender_ == nullptr) {
    Task* next = look_around();
    if (next == nullptr) {
      // A rank that polls must not keep the core from a worker that shares it, nor its threads out.
      if (admits_threads_) {
        monitor_.yield();
      } else if (shared_.oversubscribed) {
        sched_yield();
      }
      return;
    }
    set_state(self, TaskState::kReady);
    ready_.push_yielded(self);
    return switch_from(self, &self, *next);
  }
  // Several ranks that poll in turn never leave the queue empty.
  if (shared_.oversubscribed && ++yields_ % kYieldsPerSlice == 0) sched_yield();
  set_state(self, TaskState::kReady);
  ready_.push_yielded(self);
  Task* next = next_ready();
  if (next != &self) return switch_from(self, &self, *next);
  set_state(self, TaskState::kRunning);
}

void Worker::finish() noexcept {
  Task& self = *running_;
  if (self.monitored && !self.inside) enter();
  set_state(self, TaskState::kFinished);
  // acq_rel: the worker that sees zero, and run()'s caller, see all that the tasks have done.
  if (shared_.unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    for (auto& worker : shared_.workers) worker->poke();
  }
  Task* from = &self;
  Task* next = next_ready();
  if (next == nullptr) {
    report(from, nullptr);
    next = idle();
    from = nullptr;
  }
  if (next != nullptr) {
    before_switch(from, *next);
    ult::abandon_to(thread_, self, *next);
  }
  leave_for_good();
}

// All tasks have finished, the running one among them, or it is a helper, which nobody needs any more.
void Worker::leave_for_good() noexcept {
  Task& self = *running_;
  running_ = nullptr;
  ult::abandon_to(thread_, self, root_);
}

void Worker::hand_off_to(Task& self, HelperFiber& helper) noexcept {
  if (&self != running_) [[unlikely]]
    return lend_elsewhere(self, helper);
  Task* const outer = std::exchange(lender_, &self);  // a helper may start helpers
  set_state(self, TaskState::kReady);
  switch_from(self, &self, helper);
  lender_ = outer;
}

void Worker::retire(HelperFiber& helper) noexcept {
  helpers_.give_back(helper);
  block(helper);
}

void Worker::run() noexcept {
  set_this_thread(this, &running_);
  ult::attach(thread_, root_);
  if (Task* first = idle()) switch_from(root_, nullptr, *first);
  ult::detach(root_);
  set_this_thread(nullptr, nullptr);
  if (admits_threads_) leave();
}

Worker::~Worker() {
  if (t_worker != this) return;
  // The adopted thread outlives its time as a worker.
  ult::detach(*running_);
  set_this_thread(nullptr, nullptr);
}

void Worker::adopt(Task& task) noexcept {
  set_this_thread(this, &running_);
  ult::attach(thread_, task);
  task.worker = this;
  running_ = &task;
  set_state(task, TaskState::kRunning);
  report(nullptr, &task);
}

// ---- The contract's free functions (task.hpp, scheduler.hpp) ----

__attribute__((noinline)) Task* current() noexcept {
  __asm__ volatile("" ::: "memory");
  Task** running = t_running;
  return running == nullptr ? nullptr : *running;
}

int current_worker() noexcept {
  Worker* worker = this_worker();
  return worker == nullptr ? -1 : worker->index();
}

int ready_tasks() noexcept {
  Worker* worker = this_worker();
  return worker == nullptr ? 0 : worker->ready();
}

void yield() noexcept {
  Task* self = current();
  if (self == nullptr) {
    sched_yield();
    return;
  }
  self->worker->yield(*self);
}

void make_ready(Task& task) noexcept {
  task.worker->make_ready(task, this_worker());
}

}  // namespace tmpi::sched
