// Threads of ranks: a thread that a rank has created calls MPI as that rank. Inside a call it is *inside the
// worker* of its rank, as the worker's own thread is: one at a time, so that nothing above this room needs a
// lock for it. docs/design/threads.md.
//
// A worker's monitor counts only once its thread has been told to expect threads (Scheduler::admit_threads);
// then every flow of control takes it on the way in from user code and gives it up on the way out (Inside),
// when it blocks, and when its worker has nothing to run.
#pragma once

#include "sched/task.hpp"

namespace tmpi::sched {

/// The task of the calling thread, which is no worker, as a part of `rank`, a task whose worker has admitted
/// threads. Made at the first call, given back when the thread ends. Does not enter.
Task& thread_task(const Task& rank);

namespace detail {
void enter(Task& task) noexcept;
void leave(Task& task) noexcept;
}  // namespace detail

/// A stay inside the worker: from the entry into the library to the return to user code. They nest (a user's
/// callback calls the library). Costs two stores while no threads have been admitted.
class Inside {
 public:
  /// `task`: the calling flow's, current() or thread_task(); null: nothing is done.
  explicit Inside(Task* task) noexcept : task_(task), outermost_(task != nullptr && !task->inside) {
    if (!outermost_) return;
    task->inside = true;
    if (task->monitored.load(std::memory_order_relaxed)) [[unlikely]]
      detail::enter(*task);
  }
  ~Inside() {
    if (!outermost_) return;
    task_->inside = false;
    if (task_->monitored.load(std::memory_order_relaxed)) [[unlikely]]
      detail::leave(*task_);
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  Task* const task_;
  const bool outermost_;
};

}  // namespace tmpi::sched
