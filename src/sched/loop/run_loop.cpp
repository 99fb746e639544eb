#include "sched/loop/run_loop.hpp"

#include <sched.h>
#include <unistd.h>

#include "sched/door/rank_thread.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {

// ---- Choosing ----

void RunLoop::push_yielded(Task& task) noexcept {
  task.set_state(TaskState::kReady);
  ready_.push_yielded(task);
}

// A look outside may cost a system call.
__attribute__((noinline)) void RunLoop::look_outside_in_time() noexcept {
  const std::uint64_t now = timers::now_ticks();
  const bool expectant = until_clock_ != 0;
  until_clock_ = kClockInterval;
  if (now - last_outside_ < (expectant ? shared_.expectant_ticks : shared_.quiet_ticks)) return;
  last_outside_ = now;
  look_outside();
}

// What comes from outside included, where it is not looked at each switch.
inline void RunLoop::look_at_sources() noexcept {
  if (drain_hook_ != nullptr) drain_hook_(index_);
  if (outside_ && (--until_clock_ == 0 ||
                   (expected_ != nullptr && expected_->load(std::memory_order_relaxed) > 0))) [[unlikely]]
    look_outside_in_time();
}

[[gnu::always_inline]] inline Task* RunLoop::next_ready() noexcept {
  if (resume_next_ != nullptr) [[unlikely]]
    return std::exchange(resume_next_, nullptr);
  // The inbox at every switch, so that a worker that is never idle keeps nobody waiting: one load of a line
  // that is in cache.
  if (reasons_.any() || !parking().empty()) [[unlikely]]
    return next_of_all();
  look_at_sources();
  return ready_.pop();
}

Task* RunLoop::pop_after_sources() noexcept {
  look_at_sources();
  return ready_.pop();
}

// The task that follows; null when all have finished. `from`, which is left for it, becomes null if the worker
// has idled meanwhile.
[[gnu::always_inline]] inline Task* RunLoop::choose_after(Task*& from) noexcept {
  if (Task* const next = next_ready()) return next;
  if (from != nullptr) report(from, nullptr);
  from = nullptr;
  return idle();
}

// ---- Switching ----

void RunLoop::task_main(ult::Fiber& fiber) noexcept {
  inside_worker.assume();
  Task& task = static_cast<Task&>(fiber);
  RunLoop* const here = task.worker;
  here->begins(task);
  task.entry(task.argument);
  this_loop()->finish();
}

void RunLoop::prepare(Task& task) noexcept {
  ult::prepare(task, task_main);
  task.monitored.store(door_.admits(), std::memory_order_relaxed);
}

inline void RunLoop::before_switch(Task* from, Task& to, Counter& counter) noexcept {
  // A new task's first frame is laid by the worker that runs it: its stack is then on this worker's NUMA
  // node.
  if (to.context == nullptr) [[unlikely]]
    prepare(to);
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  ult::take_thread_pointer(thread_, to);
  report(from, &to);
  to.set_state(TaskState::kRunning);
  running_ = &to;
}

inline void RunLoop::switch_from(ult::Fiber& fiber, Task* from, Task& to) noexcept {
  before_switch(from, to, switches_);
  ult::switch_to(thread_, fiber, to);
  // Nothing more: the task may have come back on another worker.
}

// The task that waits now is to be left for this one; null: it has been woken before it was left.
[[gnu::always_inline]] inline Task* RunLoop::next_instead_of(Task& self) noexcept {
  self.set_state(TaskState::kBlocked);
  Task* from = &self;
  Task* const next = choose_after(from);
  if (next == nullptr) leave_for_good();
  if (next != &self) {
    before_switch(from, *next, switches_);
    return next;
  }
  if (from == nullptr) report(nullptr, &self);
  self.set_state(TaskState::kRunning);
  return nullptr;
}

[[gnu::noinline]] void RunLoop::suspend(Task& self) noexcept {
  if (Task* const next = next_instead_of(self)) ult::switch_to(thread_, self, *next);
}

void RunLoop::block(Task& self) noexcept {
  if (&self != running_) [[unlikely]]
    return detail::block_on_thread(*this, self);
  if (reasons_.any() && wakes_at_once(self)) [[unlikely]]
    return;
  if (Task* const next = next_instead_of(self)) return leave_waiting(thread_, self, *next);
  go_on_after_wait(self);
}

// Woken, perhaps on another worker, perhaps only to be interrupted.
inline void RunLoop::go_on_after_wait(Task& self) noexcept {
  for (RunLoop* here = self.worker; here->reasons_.any() && !here->goes_on(self); here = self.worker)
    [[unlikely]] here->suspend(self);
}

// The two are the last that a task calls to be left: a call at the end is a jump, so nothing of who has chosen the next
// one stays on the stack of a task that waits. With a thousand of them each line counts.
[[gnu::noinline]] void RunLoop::leave_waiting(ult::Thread& thread, Task& self, Task& next) noexcept {
  ult::switch_to(thread, self, next);
  go_on_after_wait(self);
}

[[gnu::noinline]] void RunLoop::leave_ready(ult::Thread& thread, Task& self, Task& next) noexcept {
  ult::switch_to(thread, self, next);
  self.worker->go_on(self);
}

void RunLoop::give_turn(Task& self, Counter& counter) noexcept {
  if (&self != running_) [[unlikely]]
    return detail::yield_on_thread(*this, self);
  Task* next;
  if (ready_.empty() && resume_next_ == nullptr) {
    next = look_for_another();
    if (next == nullptr) return go_on(self);
    push_yielded(self);
  } else {
    // Several ranks that poll in turn never leave the queue empty.
    if (shared_.oversubscribed && ++yields_ % kYieldsPerSlice == 0) sched_yield();
    push_yielded(self);
    next = next_ready();
    if (next == &self) {
      self.set_state(TaskState::kRunning);
      return go_on(self);
    }
  }
  before_switch(&self, *next, counter);
  leave_ready(thread_, self, *next);
}

void RunLoop::finish() noexcept {
  Task& self = *running_;
  if (self.monitored.load(std::memory_order_relaxed) && !self.inside) door_.entrance().enter();
  self.set_state(TaskState::kFinished);
  // Later than this: who looks through the interrupted finds it finished.
  if (reasons_.any()) reasons_.take_mark(self);
  unsettle();
  if (shared_.unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    for (Parking* parking : shared_.parkings) parking->wake();
  }
  Task* from = &self;
  if (Task* const next = choose_after(from)) {
    before_switch(from, *next, switches_);
    ult::abandon_to(thread_, self, *next);
  }
  leave_for_good();
}

// All tasks have finished, the running one among them, or it is a helper fiber, which nobody needs any more.
void RunLoop::leave_for_good() noexcept {
  Task& self = *running_;
  running_ = nullptr;
  ult::abandon_to(thread_, self, root_);
}

void RunLoop::hand_off_to(Task& self, Task& helper) noexcept {
  if (&self != running_) [[unlikely]]
    return detail::hand_off_on_thread(*this, self, helper);
  Task* const outer = std::exchange(resume_next_, &self);  // a helper fiber may hand off in turn
  self.set_state(TaskState::kReady);
  switch_from(self, &self, helper);
  resume_next_ = outer;
  go_on(self);
}

// Its context is saved when it has been left: the root takes it from there.
void RunLoop::leave_for_root(Task& self) noexcept {
  switches_.store(switches_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  report(&self, nullptr);
  running_ = nullptr;
  self.set_state(TaskState::kReady);
  ult::switch_to(thread_, self, root_);
  self.worker->go_on(self);  // what came while it was between the two
}

// ---- Begin and end ----

void RunLoop::run() noexcept {
  inside_worker.assume();
  set_this_thread(this, &running_);
  thread_id_.store(gettid(), std::memory_order_relaxed);
  ult::attach(thread_, root_);
  thread_.takes_pointers = true;
  Task* none = nullptr;
  for (Task* next = idle(); next != nullptr; next = choose_after(none)) {
    switch_from(root_, nullptr, *next);
    if (!root_goes_on()) break;
  }
  ult::detach(root_);
  set_this_thread(nullptr, nullptr);
  ended();
}

void RunLoop::adopt(Task& task) noexcept {
  inside_worker.assume();
  set_this_thread(this, &running_);
  thread_id_.store(gettid(), std::memory_order_relaxed);
  settle();
  ult::attach(thread_, task);
  task.worker = this;
  running_ = &task;
  task.set_state(TaskState::kRunning);
  report(nullptr, &task);
}

RunLoop::~RunLoop() {
  if (this_loop() != this) return;
  // The adopted thread outlives its time as a worker.
  ult::detach(*running_);
  set_this_thread(nullptr, nullptr);
}

}  // namespace tmpi::sched
