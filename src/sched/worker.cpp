#include "sched/worker.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/platform.hpp"
#include "sched/sleep.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {

// Not read through the worker: a rank's thread runs something else than the worker's.
constinit thread_local Task** detail::t_running __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

// initial-exec: one load, no call, also inside libtmpi.so (which is there from the start, never dlopen'ed
// late).
__attribute__((tls_model("initial-exec"))) thread_local Worker* t_worker = nullptr;
void task_main(ult::Fiber& fiber) noexcept {
  Task& task = static_cast<Task&>(fiber);
  task.worker->settle_in(&task);
  if (task.kind == TaskKind::kHelper) {
    task.inside = true;  // for ever
  } else if (task.monitored.load(std::memory_order_relaxed)) {
    task.worker->leave();
  }
  task.entry(task.argument);
  this_worker()->finish();
}

}  // namespace

__attribute__((noinline)) Worker* this_worker() noexcept {
  compiler_barrier();
  return t_worker;
}

__attribute__((noinline)) void set_this_thread(Worker* worker, Task** running) noexcept {
  t_worker = worker;
  detail::t_running = running;
}

// ---- Choosing ----

void Worker::drain_inbox() noexcept {
  entrance_.drain([this](Task& task) {
    if (balancer_ != nullptr && task.moving->fresh) [[unlikely]]
      take_over(task);
    make_ready_here(task);
  });
  // Whoever interrupts a task leaves a reason to look, too.
  if (interrupted_.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
    take_interrupted();
}

void Worker::push_yielded(Task& task) noexcept {
  task.set_state(TaskState::kReady);
  ready_.push_yielded(task);
}

// The look at the network included, which is not made at each switch.
inline void Worker::look_at_sources() noexcept {
  if (drain_hook_ != nullptr) drain_hook_(index_);
  if (poll_ != nullptr &&
      (--until_clock_ == 0 || (expected_ != nullptr && expected_->load(std::memory_order_relaxed) > 0)))
      [[unlikely]]
    poll_at_switch();
}

[[gnu::always_inline]] inline Task* Worker::next_ready() noexcept {
  if (resume_next_ != nullptr) [[unlikely]]
    return std::exchange(resume_next_, nullptr);
  // The inbox at every switch, so that a worker that is never idle keeps nobody waiting: one load of a line
  // that is in cache.
  if (watchful() || !parking().empty()) [[unlikely]]
    return next_ready_of_all();
  look_at_sources();
  return ready_.pop();
}

// With what has come from elsewhere, and where tasks have slept, been interrupted or move.
__attribute__((noinline)) Task* Worker::next_ready_of_all() noexcept {
  if (opened_) close_opening();
  drain_inbox();
  if (watchful()) [[unlikely]] {
    wake_sleepers();
    take_answers();
    if (Task* task = pop_urgent()) return task;
    if (balancer_ != nullptr) balance();
  }
  look_at_sources();
  Task* const next = ready_.pop();
  if (balancer_ != nullptr && next != nullptr) open_for(*next);
  return next;
}

// The task that follows; null when all have finished. `from`, which is left for it, becomes null if the worker
// has idled meanwhile.
[[gnu::always_inline]] inline Task* Worker::choose_after(Task*& from) noexcept {
  if (Task* const next = next_ready()) return next;
  if (from != nullptr) report(from, nullptr);
  from = nullptr;
  return idle();
}

inline Task* Worker::pop_next() noexcept {
  if (urgent_ != nullptr) [[unlikely]]
    if (Task* const task = pop_urgent()) return task;
  return ready_.pop();
}

__attribute__((noinline)) Task* Worker::pop_urgent() noexcept {
  while (urgent_ != nullptr) {
    Task* const task = urgent_;
    urgent_ = task->next_interrupted;
    // In this order: an interrupt from here on puts it into the list again. seq_cst pairs with interrupt().
    task->interrupt_queued.store(false, std::memory_order_seq_cst);
    if (task->worker != this) [[unlikely]] {
      // It has moved since. What it finds itself when it goes on there need not be told.
      if (task->interrupted.load(std::memory_order_seq_cst)) task->worker->interrupt(*task);
      continue;
    }
    const TaskState state = task->get_state();
    if (state == TaskState::kFinished) take_mark(*task);
    if (state != TaskState::kBlocked || !task->interrupted.load(std::memory_order_seq_cst)) continue;
    task->resumed_early = true;
    return task;
  }
  return nullptr;
}

// The list may hold only tasks that have been interrupted while they ran, or have been served since.
bool Worker::has_urgent() noexcept {
  Task* const task = pop_urgent();
  if (task == nullptr) return false;
  task->resumed_early = false;
  // Interrupted again meanwhile: it is in the other list.
  if (!task->interrupt_queued.exchange(true, std::memory_order_seq_cst)) {
    task->next_interrupted = urgent_;
    urgent_ = task;
  }
  return true;
}

__attribute__((noinline)) void Worker::wake_sleepers() noexcept {
  if (sleepers_.empty()) return;
  const std::uint64_t now = monotonic_now();
  while (Sleeper* sleeper = sleepers_.due(now)) make_ready_here(*sleeper->task);
  note_sleepers();
}

__attribute__((noinline)) void Worker::take_interrupted() noexcept {
  Task* task = interrupted_.exchange(nullptr, std::memory_order_acquire);
  while (task != nullptr) {
    Task* const after = task->next_interrupted;
    task->next_interrupted = urgent_;
    urgent_ = task;
    task = after;
  }
}

void Worker::interrupt(Task& task) noexcept {
  // Counted first: who sees the mark has a reason to look for it.
  count_marked(kMarked);
  // seq_cst pairs with pop_urgent(): either that finds the task interrupted, or this finds it in no list.
  if (task.interrupted.exchange(true, std::memory_order_seq_cst)) count_marked(-kMarked);
  if (!task.interrupt_queued.exchange(true, std::memory_order_seq_cst)) {
    Task* first = interrupted_.load(std::memory_order_relaxed);
    do {
      task.next_interrupted = first;
      // release pairs with take_interrupted().
    } while (!interrupted_.compare_exchange_weak(first, &task, std::memory_order_release,
                                                 std::memory_order_relaxed));
  }
  parking().wake();
}

// A look at the network may cost a system call.
__attribute__((noinline)) void Worker::poll_at_switch() noexcept {
  const std::uint64_t now = timers::now_ticks();
  const bool expectant = until_clock_ != 0;
  until_clock_ = kClockInterval;
  if (now - last_poll_ < (expectant ? shared_.expectant_ticks : shared_.quiet_ticks)) return;
  last_poll_ = now;
  poll_source();
}

void Worker::look() noexcept {
  if (opened_) [[unlikely]]
    close_opening();
  drain_inbox();
  if (watchful()) [[unlikely]] {
    wake_sleepers();
    take_answers();
    if (balancer_ != nullptr) look_around();
  }
  if (drain_hook_ != nullptr) drain_hook_(index_);
  if (poll_ != nullptr && poll_source()) progressed_ = true;
}

bool Worker::anyone_ready() noexcept {
  if (opened_) close_opening();
  drain_inbox();
  if (watchful()) take_answers();
  if (drain_hook_ != nullptr) drain_hook_(index_);
  return !ready_.empty() || has_urgent();
}

bool Worker::sleep(std::uint32_t epoch) noexcept {
  // Once: others may be inside by now.
  const std::uint64_t earliest = sleepers_.earliest();
  std::uint64_t left = 0;
  if (earliest != 0) {
    constexpr std::uint64_t kLongest = 1'000'000'000'000;  // ns; then another look
    const std::uint64_t now = monotonic_now();
    left = std::clamp<std::uint64_t>(earliest - std::min(now, earliest), 1, kLongest);
  }
  sleeps_.store(true, std::memory_order_relaxed);
  detail::hurry_progress();
  const std::uint64_t began = timers::now_ticks();
  const bool watched = shared_.stall.sleep(parking(), epoch, left);
  sleeps_.store(false, std::memory_order_relaxed);
  // Not where the program has said for how long it sleeps.
  if (earliest == 0) patience_.note_sleep(timers::now_ticks() - began, shared_.spin_ticks);
  parking().take_signals();
  return watched;
}

// Until nothing has happened for a while: a message that comes in piece by piece keeps the worker awake. Offers
// are looked for only after the first looks, unless one has been missed: who waits for a small message need not pay for
// that.
void Worker::spin() noexcept {
  if (shared_.spin_ticks == 0) return look();
  spins_.store(true, std::memory_order_relaxed);
  spin_on();
  spins_.store(false, std::memory_order_relaxed);
}

inline void Worker::spin_on() noexcept {
  if (assist_point_.missed()) [[unlikely]]
    assist_point_.look();
  std::uint64_t start = timers::now_ticks(), now;
  const auto over = [this] {
    look();
    return has_ready() || finished();
  };
  // Between two pieces of another's work, whose owner waits for the last one: not the network.
  const auto goes_on = [this] {
    spins_.store(false, std::memory_order_relaxed);
    drain_inbox();
    if (watchful()) [[unlikely]]
      take_answers();
    if (drain_hook_ != nullptr) drain_hook_(index_);
    return !has_ready() && !finished();
  };
  const std::uint64_t patience = patience_.ticks(shared_.spin_ticks);
  do {
    for (int i = 0; i < 8; ++i) {
      if (over()) return assist_point_.look_away();
      if (assist_point_.assist(goes_on)) {
        progressed_ = true;
        spins_.store(true, std::memory_order_relaxed);
      }
      entrance_.pause();
    }
    assist_point_.look();
    now = timers::now_ticks();
    if (progressed()) start = now;
  } while (now - start < patience);
  assist_point_.look_away();
}

// Null when all tasks have finished.
__attribute__((noinline)) Task* Worker::idle() noexcept {
  for (;;) {
    if (balancer_ != nullptr) begin_idle();
    entrance_.idle(*this);
    tell_progress();
    if (balancer_ != nullptr) end_idle();
    // What was urgent may have been dealt with meanwhile.
    if (Task* task = pop_next()) {
      if (balancer_ != nullptr) open_for(*task);
      return task;
    }
    if (finished()) return nullptr;
  }
}

// ---- Switching ----

void Worker::prepare(Task& task) noexcept {
  ult::prepare(task, task_main);
  task.monitored.store(entrance_.admits(), std::memory_order_relaxed);
}

inline void Worker::before_switch(Task* from, Task& to, Counter& counter) noexcept {
  // A new task's first frame is laid by the worker that runs it: its stack is then on this worker's NUMA
  // node.
  if (to.context == nullptr) [[unlikely]]
    prepare(to);
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  report(from, &to);
  to.set_state(TaskState::kRunning);
  running_ = &to;
}

inline void Worker::switch_from(ult::Fiber& fiber, Task* from, Task& to, Counter& counter) noexcept {
  before_switch(from, to, counter);
  ult::switch_to(thread_, fiber, to);
  // Nothing more: the task may have come back on another worker.
}

// False: it has not been interrupted since. acquire (of seq_cst) pairs with interrupt(): the hook sees why.
bool Worker::take_mark(Task& task) noexcept {
  if (!task.interrupted.exchange(false, std::memory_order_seq_cst)) return false;
  count_marked(-kMarked);
  return true;
}

// What interrupts a task is dealt with by itself, where it has been suspended. True if it was resumed for
// nothing else.
__attribute__((noinline)) bool Worker::interrupted(Task& self) noexcept {
  const bool early = std::exchange(self.resumed_early, false);
  if (self.sleeper != nullptr) {
    // Whoever sleeps deals with it when it is in user code again: a handler may leave by longjmp.
    take_mark(self);
    self.sleeper->interrupted = true;
    const bool wakes = self.sleeper->listed;
    if (wakes) sleepers_.remove(*self.sleeper);
    note_sleepers();
    return early && !wakes;
  }
  while (take_mark(self)) {
    if (shared_.interrupt_hook != nullptr) shared_.interrupt_hook(self);
  }
  return early;
}

__attribute__((noinline)) void Worker::go_on_watchfully(Task& self) noexcept {
  settle_in(&self);
  if (self.interrupted.load(std::memory_order_relaxed)) interrupted(self);
}

bool Worker::sleep_until(Task& self, std::uint64_t deadline) noexcept {
  Sleeper sleeper{deadline, &self};
  sleepers_.add(sleeper);
  watch_for(kSleeps);
  self.sleeper = &sleeper;
  block(self);
  self.sleeper = nullptr;
  return !sleeper.interrupted;
}

// The task that waits now is to be left for this one; null: it has been woken before it was left.
[[gnu::always_inline]] inline Task* Worker::next_instead_of(Task& self) noexcept {
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

[[gnu::noinline]] void Worker::suspend(Task& self) noexcept {
  if (Task* const next = next_instead_of(self)) ult::switch_to(thread_, self, *next);
}

void Worker::block(Task& self) noexcept {
  if (&self != running_) [[unlikely]]
    return detail::block_on_thread(*this, self);
  if (watchful() && wakes_at_once(self)) [[unlikely]]
    return;
  if (Task* const next = next_instead_of(self)) return leave_waiting(thread_, self, *next);
  go_on_after_wait(self);
}

// Woken, perhaps on another worker, perhaps only to be interrupted.
inline void Worker::go_on_after_wait(Task& self) noexcept {
  for (Worker* here = self.worker; here->watchful() && !here->goes_on(self); here = self.worker)
    [[unlikely]] here->suspend(self);
}

// The two are the last that a task calls to be left: a call at the end is a jump, so nothing of who has chosen the next
// one stays on the stack of a task that waits. With a thousand of them each line counts.
[[gnu::noinline]] void Worker::leave_waiting(ult::Thread& thread, Task& self, Task& next) noexcept {
  ult::switch_to(thread, self, next);
  go_on_after_wait(self);
}

[[gnu::noinline]] void Worker::leave_ready(ult::Thread& thread, Task& self, Task& next) noexcept {
  ult::switch_to(thread, self, next);
  self.worker->go_on(self);
}

// What has interrupted it while it ran or was ready is in no list any more.
__attribute__((noinline)) bool Worker::wakes_at_once(Task& self) noexcept {
  if (!self.interrupted.load(std::memory_order_relaxed)) return false;
  interrupted(self);
  return self.sleeper != nullptr;
}

// False: it was resumed to be interrupted, and goes on waiting.
__attribute__((noinline)) bool Worker::goes_on(Task& self) noexcept {
  settle_in(&self);
  // relaxed: if it is seen late, its worker will be told.
  if (self.interrupted.load(std::memory_order_relaxed) && interrupted(self)) return false;
  if (balancer_ != nullptr) move_after_wait(self);
  return true;
}

inline void Worker::give_turn(Task& self, Counter& counter) noexcept {
  if (&self != running_) [[unlikely]]
    return detail::yield_on_thread(*this, self);
  if (ready_.empty() && resume_next_ == nullptr) {
    look();
    Task* next = pop_next();
    if (next == nullptr) {
      // A rank that polls must not keep the core from a worker that shares it, nor its threads out.
      if (entrance_.admits() && !only_attended_) {
        entrance_.yield(*this);
      } else if (shared_.oversubscribed) {
        sched_yield();
      }
      if (watchful() && balancer_ != nullptr) [[unlikely]]
        polled_in_vain();
      return go_on(self);
    }
    if (watchful() && balancer_ != nullptr) [[unlikely]] {
      account();
      open_for(*next);
    }
    push_yielded(self);
    before_switch(&self, *next, counter);
    return leave_ready(thread_, self, *next);
  }
  // Several ranks that poll in turn never leave the queue empty.
  if (shared_.oversubscribed && ++yields_ % kYieldsPerSlice == 0) sched_yield();
  push_yielded(self);
  Task* next = next_ready();
  if (next != &self) {
    before_switch(&self, *next, counter);
    return leave_ready(thread_, self, *next);
  }
  self.set_state(TaskState::kRunning);
  go_on(self);
}

void Worker::yield(Task& self) noexcept {
  give_turn(self, switches_);
}

void Worker::yield_polling(Task& self) noexcept {
  PollWatch& watch = shared_.polls;
  watch.come(self.polls);
  give_turn(self, polled_switches_);
  watch.go(self.polls);  // of the process: the task may have come back on another worker
}

void Worker::finish() noexcept {
  Task& self = *running_;
  if (self.monitored.load(std::memory_order_relaxed) && !self.inside) entrance_.enter();
  self.set_state(TaskState::kFinished);
  // Later than this: pop_urgent() finds it finished.
  if (watchful()) take_mark(self);
  residents_.fetch_sub(1, std::memory_order_relaxed);
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
void Worker::leave_for_good() noexcept {
  Task& self = *running_;
  running_ = nullptr;
  ult::abandon_to(thread_, self, root_);
}

void Worker::hand_off_to(Task& self, HelperFiber& helper) noexcept {
  if (&self != running_) [[unlikely]]
    return detail::hand_off_on_thread(*this, self, helper);
  Task* const outer = std::exchange(resume_next_, &self);  // a helper fiber may hand off in turn
  self.set_state(TaskState::kReady);
  switch_from(self, &self, helper);
  resume_next_ = outer;
  go_on(self);
}

void Worker::retire(HelperFiber& helper) noexcept {
  helpers_.give_back(helper);
  block(helper);
}

void Worker::run() noexcept {
  set_this_thread(this, &running_);
  thread_id_.store(gettid(), std::memory_order_relaxed);
  ult::attach(thread_, root_);
  Task* none = nullptr;
  for (Task* next = idle(); next != nullptr; next = choose_after(none)) {
    switch_from(root_, nullptr, *next);
    settle_in(nullptr);
    // Back: a task moves to another worker, or all have finished.
    if (leaving_ == nullptr) break;
    send(*std::exchange(leaving_, nullptr), *leaving_to_);
    // What has been left for it here meanwhile, before anybody's turn (MoveHooks::moved).
    if (drain_hook_ != nullptr) drain_hook_(index_);
  }
  ult::detach(root_);
  set_this_thread(nullptr, nullptr);
  if (entrance_.admits()) leave();
}

// ---- Its attendant ----

void Worker::admit_attendant() noexcept {
  if (entrance_.admits()) return;
  scheduler()->admit_threads();
  only_attended_ = true;
}

namespace {

bool attendable(const Task& task) noexcept {
  return task.kind == TaskKind::kHelper && !static_cast<const HelperFiber&>(task).stays;
}

}  // namespace

bool Worker::has_ready_helper() const noexcept {
  if (helpers_.busy() == 0 || entrance_.idle()) return false;
  bool found = false;
  ready_.for_each([&](const Task& task) { found = found || attendable(task); });
  return found;
}

HelperFiber* Worker::take_ready_helper() noexcept {
  return has_ready_helper() ? static_cast<HelperFiber*>(ready_.take(attendable)) : nullptr;
}

// The worker's own thread sees it at the latest when it leaves; another one may not come by again.
void Worker::helper_is_ready() noexcept {
  if (detail::t_running != &running_) attendant_->take_over();
}

Worker::~Worker() {
  if (t_worker != this) return;
  // The adopted thread outlives its time as a worker.
  ult::detach(*running_);
  set_this_thread(nullptr, nullptr);
}

void Worker::adopt(Task& task) noexcept {
  set_this_thread(this, &running_);
  thread_id_.store(gettid(), std::memory_order_relaxed);
  settle();
  ult::attach(thread_, task);
  task.worker = this;
  running_ = &task;
  task.set_state(TaskState::kRunning);
  report(nullptr, &task);
}

// ---- The contract's free functions (task.hpp, scheduler.hpp) ----

__attribute__((noinline)) Task* current() noexcept {
  compiler_barrier();
  Task** running = detail::t_running;
  return running == nullptr ? nullptr : *running;
}

int current_worker() noexcept {
  Worker* worker = this_worker();
  return worker == nullptr ? -1 : worker->index();
}

void forget_this_thread() noexcept {
  set_this_thread(nullptr, nullptr);
}

int ready_tasks() noexcept {
  Worker* worker = this_worker();
  return worker == nullptr ? 0 : worker->ready();
}

int lone_worker() noexcept {
  Worker* const worker = this_worker();
  return worker != nullptr && worker->lone() ? worker->index() : -1;
}

void yield() noexcept {
  Task* self = current();
  if (self == nullptr) {
    sched_yield();
    return;
  }
  self->worker->yield(*self);
}

void yield_polling() noexcept {
  Task* self = current();
  if (self == nullptr) {
    sched_yield();
    return;
  }
  self->worker->yield_polling(*self);
}

int os_thread_of(const Task& task) noexcept {
  return task.worker == nullptr ? 0 : task.worker->thread();
}

void make_ready(Task& task) noexcept {
  task.worker->make_ready(task, this_worker());
}

}  // namespace tmpi::sched
