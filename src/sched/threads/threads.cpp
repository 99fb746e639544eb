// Threads of ranks as tasks (docs/design/threads.md): made, let into their worker, suspended there.
#include <pthread.h>

#include <utility>

#include "base/platform.hpp"
#include "base/spinlock.hpp"
#include "sched/door/rank_thread.hpp"
#include "sched/thread_task.hpp"
#include "sched/worker/worker.hpp"

namespace tmpi::sched {
namespace {

// Null on workers and on threads that have not called yet.
__attribute__((tls_model("initial-exec"))) thread_local ThreadTask* t_thread = nullptr;

// Out of line for the same reason as this_worker(): a helper fiber may go on on another thread.
__attribute__((noinline)) ThreadTask*& this_thread() noexcept {
  compiler_barrier();
  return t_thread;
}

// ---- The pool of thread tasks: never freed, a late wake-up may still touch one ----

SpinLock pool_lock;
ThreadTask* pool = nullptr;

void give_back(void* opaque) {
  auto* task = static_cast<ThreadTask*>(opaque);
  this_thread() = nullptr;
  ult::detach(*task);
  task->set_state(TaskState::kFinished);
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
    task.kind = TaskKind::kThread;
    task.monitored.store(true, std::memory_order_relaxed);
    task.flow = &task;
    ult::attach(task.os_thread, task);
    pthread_setspecific(end_key(), &task);
    mine = &task;
  }
  mine->worker = static_cast<RunLoop*>(rank.worker);
  mine->home = rank.home;
  mine->owner = rank.owner;
  mine->id = rank.id;
  mine->run_with(
      rank.thread_pointer);  // not this thread, which has one: its helper fibers, once on the worker's
  return *mine;
}

// ---- Coming in and going out ----

void detail::enter(Task& task) noexcept {
  task.worker->door().entrance().enter();
  if (task.kind != TaskKind::kThread) return;
  set_this_thread(task.worker, &static_cast<ThreadTask&>(task).flow);
  task.set_state(TaskState::kRunning);
}

void detail::leave(Task& task) noexcept {
  inside_worker.assume();
  if (task.kind == TaskKind::kThread) set_this_thread(nullptr, nullptr);
  worker_of(task)->leave();
}

// ---- What a task does that runs on a thread which is not its worker's own ----

namespace {

// A helper fiber to which a thread has handed off suspends: the thread goes on at once. The worker's own
// thread resumes the helper fiber.
void hand_back(Task& helper) noexcept {
  ThreadTask& thread = *this_thread();
  thread.flow = thread.resume_next;
  ult::switch_to(thread.os_thread, helper, *thread.resume_next);
}

}  // namespace

void detail::block_on_thread(RunLoop& loop, Task& self) noexcept {
  self.set_state(TaskState::kBlocked);
  if (self.kind != TaskKind::kThread) return hand_back(self);
  Worker& worker = static_cast<Worker&>(loop);
  loop.door().entrance().block(static_cast<ThreadTask&>(self).parker, worker.idling());
  worker.network().leave_to_progress();
  self.set_state(TaskState::kRunning);
}

void detail::yield_on_thread(RunLoop& loop, Task& self) noexcept {
  if (self.kind == TaskKind::kThread) {
    Idling& idling = static_cast<Worker&>(loop).idling();
    idling.look();
    return loop.door().entrance().yield(idling);
  }
  loop.push_yielded(self);
  hand_back(self);
}

void detail::hand_off_on_thread(RunLoop& loop, Task& self, Task& helper) noexcept {
  ThreadTask& thread = *this_thread();
  if (helper.context == nullptr) loop.prepare(helper);
  helper.set_state(TaskState::kRunning);
  Task* const outer = std::exchange(thread.resume_next, &self);
  thread.flow = &helper;
  ult::switch_to(thread.os_thread, self, helper);
  thread.resume_next = outer;
}

}  // namespace tmpi::sched
