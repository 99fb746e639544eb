// Which loop the calling thread runs, and which task; what a task can do by itself (task.hpp, scheduler.hpp).
#include <sched.h>

#include "base/platform.hpp"
#include "base/thread_pointer.hpp"
#include "sched/scheduler.hpp"
#include "sched/task.hpp"
#include "sched/thread_pointer.hpp"
#include "sched/worker/worker.hpp"

namespace tmpi::sched {

// Not read through the worker: a rank's thread runs something else than the worker's.
constinit thread_local Task** detail::t_running __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

// initial-exec: one load, no call, also inside libtmpi.so (which is there from the start, never dlopen'ed
// late).
__attribute__((tls_model("initial-exec"))) thread_local RunLoop* t_loop = nullptr;

}  // namespace

// Both are the same for a thread as long as it is a worker's, so that flows with a thread pointer of their own can have
// copies.
void tell_of_pointers() noexcept {
  copy_for_pointers(detail::t_running);
  copy_for_pointers(t_loop);
}

__attribute__((noinline)) RunLoop* this_loop() noexcept {
  compiler_barrier();
  return t_loop;
}

__attribute__((noinline)) void set_this_thread(RunLoop* loop, Task** running) noexcept {
  t_loop = loop;
  detail::t_running = running;
}

__attribute__((noinline)) Task* current() noexcept {
  compiler_barrier();
  Task** running = detail::t_running;
  return running == nullptr ? nullptr : *running;
}

int current_worker() noexcept {
  RunLoop* const loop = this_loop();
  return loop == nullptr ? -1 : loop->index();
}

void forget_this_thread() noexcept {
  set_this_thread(nullptr, nullptr);
}

int ready_tasks() noexcept {
  RunLoop* const loop = this_loop();
  return loop == nullptr ? 0 : loop->ready();
}

int lone_worker() noexcept {
  RunLoop* const loop = this_loop();
  inside_worker.assume();
  return loop != nullptr && loop->lone() ? loop->index() : -1;
}

void yield() noexcept {
  Task* self = current();
  if (self == nullptr) {
    sched_yield();
    return;
  }
  inside_worker.assume();
  self->worker->yield(*self);
}

void yield_polling() noexcept {
  Task* self = current();
  if (self == nullptr) {
    sched_yield();
    return;
  }
  inside_worker.assume();
  PollWatch& watch = worker_of(*self)->polls();
  watch.come(self->polls);
  self->worker->yield_polling(*self);
  watch.go(self->polls);  // of the process: the task may have come back on another worker
}

int os_thread_of(const Task& task) noexcept {
  return task.worker == nullptr ? 0 : task.worker->thread();
}

__attribute__((noinline)) void take_thread_pointer(ThreadPointer& pointer) noexcept {
  static const bool told = (tell_of_pointers(), true);
  static_cast<void>(told);
  Task& self = *current();
  self.run_with(&pointer);
  inside_worker.assume();
  this_loop()->take_thread_pointer_of(self);
}

void make_ready(Task& task) noexcept {
  task.worker->make_ready(task, this_loop());
}

}  // namespace tmpi::sched
