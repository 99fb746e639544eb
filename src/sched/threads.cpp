// The worker's part in docs/threads.md: threads of its ranks come in, block, and look after its mail while
// its own thread is in user code.
#include <pthread.h>
#include <sched.h>

#include <utility>

#include "base/spinlock.hpp"
#include "sched/futex.hpp"
#include "sched/worker.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {
namespace {

// Null on workers and on threads that have not called yet.
__attribute__((tls_model("initial-exec"))) thread_local ThreadTask* t_thread = nullptr;

// Out of line for the same reason as this_worker(): a helper may go on on another thread.
__attribute__((noinline)) ThreadTask*& this_thread() noexcept {
  __asm__ volatile("" ::: "memory");
  return t_thread;
}

void set_state(Task& task, TaskState state) noexcept {
  task.state.store(state, std::memory_order_relaxed);
}

// ---- The pool of thread tasks: never freed, a late wake-up may still touch one ----

SpinLock pool_lock;
ThreadTask* pool = nullptr;

void give_back(void* opaque) {
  auto* task = static_cast<ThreadTask*>(opaque);
  this_thread() = nullptr;
  ult::detach(*task);
  set_state(*task, TaskState::kFinished);
  pool_lock.lock();
  task->next_idle = pool;
  pool = task;
  pool_lock.unlock();
}

ThreadTask& take() {
  pool_lock.lock();
  ThreadTask* task = pool;
  if (task != nullptr) pool = task->next_idle;
  pool_lock.unlock();
  if (task == nullptr) task = new ThreadTask;
  return *task;
}

pthread_key_t end_key() {
  static const pthread_key_t key = [] {
    pthread_key_t made = 0;
    pthread_key_create(&made, &give_back);
    return made;
  }();
  return key;
}

}  // namespace

Task& thread_task(const Task& rank) {
  ThreadTask*& mine = this_thread();
  if (mine == nullptr) {
    ThreadTask& task = take();
    task.is_thread = true;
    task.monitored = true;
    task.flow = &task;
    ult::attach(task.os_thread, task);
    pthread_setspecific(end_key(), &task);
    mine = &task;
  }
  mine->worker = rank.worker;
  mine->owner = rank.owner;
  mine->id = rank.id;
  return *mine;
}

// ---- Coming in and going out ----

void detail::enter(Task& task) noexcept {
  task.worker->enter();
  if (!task.is_thread) return;
  set_this_thread(task.worker, &static_cast<ThreadTask&>(task).flow);
  set_state(task, TaskState::kRunning);
}

void detail::leave(Task& task) noexcept {
  if (task.is_thread) set_this_thread(nullptr, nullptr);
  task.worker->leave();
}

void Worker::admit_threads(bool inside) noexcept {
  admits_threads_ = true;
  if (inside) monitor_.lock();
}

void Worker::leave() noexcept {
  if (idle_) {
    // A rank's thread goes, and the worker's may sleep.
    if (!ready_.empty()) poke();
  } else if (blocked_ != nullptr) {
    tend_inbox();
  }
  monitor_.unlock();
}

// Nobody is inside any more, and the worker's own thread does not idle: one of the blocked threads, the
// keeper, has to sleep at the inbox in its place.
void Worker::tend_inbox() noexcept {
  if (keeper_ == nullptr) {
    keeper_ = blocked_;
    if (keeper_->bed == ThreadTask::Bed::kOwn) {
      keeper_->signal.fetch_add(1, std::memory_order_release);
      futex_wake_one(keeper_->signal);
    }
  }
  // It sleeps there already, or will come in first and see to it itself. In the first case the word must say
  // so: somebody may have taken mail meanwhile.
  if (keeper_->bed != ThreadTask::Bed::kInbox || inbox_.asleep()) return;
  do {
    look_after_mail();
  } while (!inbox_.announce_sleep() || (drain_hook_ != nullptr && drain_hook_(index_)));
}

// ---- Blocking ----

void Worker::wake(ThreadTask& thread) noexcept {
  thread.woken = true;
  if (thread.bed == ThreadTask::Bed::kInbox) {
    inbox_.ring();
  } else if (thread.bed == ThreadTask::Bed::kOwn) {
    // release pairs with the load in sleep_in_own_bed().
    thread.signal.fetch_add(1, std::memory_order_release);
    futex_wake_one(thread.signal);
  }
}

void Worker::block_elsewhere(Task& self) noexcept {
  if (self.is_thread) return block_thread(static_cast<ThreadTask&>(self));
  set_state(self, TaskState::kBlocked);
  back_to_lender(self);
}

// A helper to which a thread has lent its turn suspends: the thread goes on at once. The worker's own thread
// resumes the helper.
void Worker::back_to_lender(Task& helper) noexcept {
  ThreadTask& thread = *this_thread();
  thread.flow = thread.lender;
  ult::switch_to(thread.os_thread, helper, *thread.lender);
}

void Worker::lend_elsewhere(Task& self, HelperFiber& helper) noexcept {
  ThreadTask& thread = *this_thread();
  if (helper.context == nullptr) prepare(helper);
  set_state(helper, TaskState::kRunning);
  Task* const outer = std::exchange(thread.lender, &self);
  thread.flow = &helper;
  ult::switch_to(thread.os_thread, self, helper);
  thread.lender = outer;
}

void Worker::block_thread(ThreadTask& self) noexcept {
  set_state(self, TaskState::kBlocked);
  self.next_blocked = blocked_;
  self.previous_blocked = nullptr;
  if (blocked_ != nullptr) blocked_->previous_blocked = &self;
  blocked_ = &self;
  for (look_after_mail(); !self.woken; look_after_mail()) {
    if (keeper_ == nullptr && !idle_) keeper_ = &self;
    if (keeper_ == &self) {
      sleep_at_inbox(self);
    } else {
      sleep_in_own_bed(self);
    }
  }
  self.woken = false;
  hand_watch_over();
  if (keeper_ == &self) keeper_ = nullptr;
  (self.previous_blocked != nullptr ? self.previous_blocked->next_blocked : blocked_) = self.next_blocked;
  if (self.next_blocked != nullptr) self.next_blocked->previous_blocked = self.previous_blocked;
  set_state(self, TaskState::kRunning);
}

// A thread's beds: it leaves the monitor while it sleeps. What runs on a thread that sleeps is nothing.
void Worker::sleep_at_inbox(ThreadTask& self) noexcept {
  const std::uint32_t rung = inbox_.bell();
  if (!inbox_.announce_sleep() || (drain_hook_ != nullptr && drain_hook_(index_))) return;
  if (self.woken) return;
  if (idle_ && !ready_.empty()) poke();
  self.bed = ThreadTask::Bed::kInbox;
  monitor_.unlock();
  const bool watched = sleep_watching(rung, 0);  // no worker sleeps: not counted for stalls
  monitor_.lock();
  if (watched) watched_ = true;
  self.bed = ThreadTask::Bed::kNone;
}

void Worker::sleep_in_own_bed(ThreadTask& self) noexcept {
  const std::uint32_t signal = self.signal.load(std::memory_order_acquire);
  self.bed = ThreadTask::Bed::kOwn;
  leave();
  futex_wait(self.signal, signal);
  monitor_.lock();
  self.bed = ThreadTask::Bed::kNone;
}

void Worker::yield_elsewhere(Task& self) noexcept {
  if (self.is_thread) {
    look_after_mail();
    if (idle_ && !ready_.empty()) poke();
    monitor_.yield();
    return;
  }
  set_state(self, TaskState::kReady);
  ready_.push_yielded(self);
  back_to_lender(self);
}

// ---- Idling ----

// As idle(), but outside of the monitor between one look and the next.
Task* Worker::idle_shared() noexcept {
  std::uint64_t start = timers::now_ticks();
  idle_ = true;
  Task* task = look_around();
  while (task == nullptr && !all_finished()) {
    if (std::exchange(progressed_, false)) start = timers::now_ticks();
    if (timers::now_ticks() - start < shared_.spin_ticks) {
      monitor_.unlock();
      for (int i = 0; i < 16 && !inbox_.has_mail(); ++i) cpu_relax();
      monitor_.lock();
    } else {
      const std::uint32_t rung = inbox_.bell();
      if (inbox_.announce_sleep()) {
        if (drain_hook_ == nullptr || !drain_hook_(index_)) {
          monitor_.unlock();
          const bool watched = sleep(rung);
          monitor_.lock();
          if (watched) watched_ = true;
        }
        inbox_.stay_awake();
      }
    }
    task = look_around();
  }
  idle_ = false;
  hand_watch_over();
  return task;
}

}  // namespace tmpi::sched
