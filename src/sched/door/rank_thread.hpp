// A thread of a rank, or an attendant, as a task (thread_task.hpp): what is inside its worker without being the worker's own
// thread.
#pragma once

#include "sched/door/entrance.hpp"
#include "sched/door/role.hpp"
#include "sched/task.hpp"
#include "ult/switch.hpp"

namespace tmpi::sched {

/// The task of a thread that is no worker. It never runs on the worker's thread: where it would be made
/// ready, its thread is woken. From a pool, alive until the process ends, so a late wake-up finds it.
struct ThreadTask : Task {
  ThreadTask() noexcept { moving = &stationary; }

  Moving stationary;           ///< it never moves
  BasicParker<System> parker;  ///< inside the worker
  // The thread's own.
  Task* flow = nullptr;  ///< what runs on the thread: this task, or a helper fiber that it has handed off to
  Task* resume_next = nullptr;      ///< who goes on when that helper fiber suspends
  ult::Thread os_thread;            ///< the thread as a switch sees it
  ThreadTask* next_idle = nullptr;  ///< pool
};

namespace detail {
// RunLoop::block(), yield() and hand_off_to() for a task that runs on a thread of a rank: that thread's own,
// or a helper fiber's.
void block_on_thread(RunLoop& loop, Task& self) noexcept TMPI_REQUIRES(inside_worker);
void yield_on_thread(RunLoop& loop, Task& self) noexcept TMPI_REQUIRES(inside_worker);
void hand_off_on_thread(RunLoop& loop, Task& self, Task& helper) noexcept TMPI_REQUIRES(inside_worker);
}  // namespace detail

}  // namespace tmpi::sched
