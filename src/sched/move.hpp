// Moving: tasks that change their worker, so that the workers of a process have the same to do. Whether tasks can move
// at all is decided when the scheduler is created (Options::balance): a job whose tasks stay pays nothing.
// docs/design/load-balance.md.
//
// A task moves only while it is ready and does not run, and it is its worker that hands it over, through the other's
// inbox. So what runs on a worker without atomics stays right: the tasks of a worker change at its own scheduling
// points only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sched/task.hpp"

namespace tmpi::sched {

namespace detail {
extern bool g_tasks_move;  // written by Scheduler::create() only
extern bool g_plans;
extern bool g_counts_messages;
void count_message(Task& from, const Task& to, std::size_t bytes) noexcept;
void step_done(int tasks) noexcept;
}  // namespace detail

/// True if tasks of this process may change their worker: what is shared by the ranks that began on one worker needs a
/// lock then.
inline bool tasks_move() noexcept {
  return detail::g_tasks_move;
}

/// Of a task that has something that belongs to its worker: it stays there until each of these is unanchored. On the
/// task's worker's thread.
inline void anchor(Task& task) noexcept {
  std::atomic<int>& anchors = task.anchors;
  anchors.store(anchors.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}
inline void unanchor(Task& task) noexcept {
  std::atomic<int>& anchors = task.anchors;
  anchors.store(anchors.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
}

/// The task, of a job whose tasks move, is the calling task's worker's: it neither runs nor leaves before the caller
/// has come to a scheduling point.
bool is_neighbour(const Task& task) noexcept;

enum class Moved {
  kYes,         ///< the task runs on that worker now
  kStationary,  ///< no task of this process moves
  kAnchored,    ///< the task has something that belongs to its worker
  kThreads,     ///< a rank of one of the two workers has threads
  kNoMemory,    ///< for what the worker's tasks have left with others, which has to be delivered first
};

/// Moves the calling task, which runs on its worker's own thread, to worker `worker`, an index. SUSPENDS.
Moved move_to(int worker) noexcept;

/// True if loads are measured and looked at from time to time.
inline bool plans() noexcept {
  return detail::g_plans;
}

/// `tasks` tasks of this process have come to a point where all of them have done a step: a moment to look at what each
/// had to do. Called by one of them, the others wait. Does not suspend.
inline void step_done(int tasks) noexcept {
  if (detail::g_plans) [[unlikely]]
    detail::step_done(tasks);
}
/// At the next such point loads are looked at even if that was done not long ago.
void plan_soon() noexcept;

/// Task `from`, which calls, sends a message to task `to`: tasks that talk much should be on one worker. Only counted if
/// whoever plans asks for it. Does not suspend.
inline void count_message(Task& from, const Task& to, std::size_t bytes) noexcept {
  if (detail::g_counts_messages) detail::count_message(from, to, bytes);
}

/// What whoever has tasks leave something with other workers (DrainHook, scheduler.hpp) has to do for those that move.
struct MoveHooks {
  /// What tasks of worker `worker` have left for others' is delivered now; false: it cannot be, and none of them moves.
  /// On that worker's thread, at a scheduling point.
  bool (*deliver)(int worker) noexcept = nullptr;
  /// The task is worker `worker`'s from now on. By the thread that hands it over or takes it, before the task runs, and
  /// before the worker that it leaves calls the drain hook; that one does so before its next turn.
  void (*moved)(Task& task, int worker) noexcept = nullptr;
};

/// Moves between workers so far: of all tasks, and of one. Any thread.
std::uint64_t moves() noexcept;
inline std::uint64_t moves_of(const Task& task) noexcept {
  return task.moving == nullptr ? 0 : task.moving->moves.load(std::memory_order_relaxed);
}

}  // namespace tmpi::sched
