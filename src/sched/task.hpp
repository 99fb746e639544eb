// Task: a fiber plus what the scheduler knows about it. One per rank, and one per helper fiber. Owned by
// the Scheduler, alive until the job ends, so a pointer to it never dangles.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/platform.hpp"
#include "sched/affinity.hpp"
#include "sched/peers.hpp"
#include "timers/meter.hpp"
#include "ult/fiber.hpp"

namespace tmpi::sched {

class RunLoop;
struct Sleeper;  // sleepers.hpp

/// The paper's process states (002, section 3): SUSPENDED is the runtime's decision, never the operating
/// system's.
enum class TaskState : std::uint8_t { kInit, kRunning, kReady, kBlocked, kFinished };

/// A rank's own flow of control, work that goes on for one (helper.hpp), or a thread of one, which is no fiber
/// (ThreadTask). Never changes.
enum class TaskKind : std::uint8_t { kRank, kHelper, kThread };

/// Name of a state for state dumps: "running", "blocked", ...
const char* to_string(TaskState state) noexcept;

/// Where a task runs, as far as switches are concerned (run_loop.hpp): changed by that worker's own thread (move.hpp), read by any. Who finds the worker that the task
/// has just left is sent on by that. Release, acquire: who finds its own sees what the task has done elsewhere.
class CurrentWorker {
 public:
  CurrentWorker() noexcept = default;
  CurrentWorker& operator=(RunLoop* worker) noexcept {
    worker_.store(worker, std::memory_order_release);
    return *this;
  }
  operator RunLoop*() const noexcept { return worker_.load(std::memory_order_acquire); }
  RunLoop* operator->() const noexcept { return *this; }

 private:
  std::atomic<RunLoop*> worker_{nullptr};
};

/// What moving a task between workers needs of it (move.hpp); unused in a job whose tasks stay. Relaxed atomics: read
/// by whoever plans.
struct Moving {
  std::atomic<int> target{-1};          ///< index of the worker that it is to move to, -1: none
  std::atomic<int> assigned{-1};        ///< where the latest plan, or itself, wants it, -1: at its home
  std::atomic<std::uint64_t> spent{0};  ///< ticks it has run
  std::atomic<std::uint64_t> slot{0};   ///< ticks it may run at a time: the longest of late
  std::atomic<std::uint64_t> mean{0};   ///< ticks it runs at a time on average: of some 32 turns
  std::atomic<std::uint64_t> moves{0};  ///< so often has it changed its worker
  bool fresh = false;                   ///< it has not run since it has moved; its worker's thread
  Peers peers;                          ///< whom it sends messages to
  Ties ties;                            ///< what has been measured of that
  // Where its memory is, and since when it has run on another NUMA node: Follower's.
  std::atomic<int> memory_node{-1};  ///< -1: it has not run yet
  int came_to = -1;                  ///< the node where it runs if that is not its memory's
  int passes_left = 0;               ///< so often its memory is still to be gone through
  std::size_t bytes_done = 0;        ///< of the present pass
  std::uint64_t seen_spent = 0;      ///< `spent` at the latest look
  std::uint64_t far_time = 0;        ///< ticks it has run there, as far as they have been accounted for,
  std::uint64_t unaccounted = 0;     ///< and since
  std::uint64_t follow_after = 0;    ///< so many must it be; 0: not known yet

  int wanted(int home) const noexcept {
    const int worker = assigned.load(std::memory_order_relaxed);
    return worker >= 0 ? worker : home;
  }
};

/// How often a task has looked for something in vain (poll_watch.hpp). Written by its worker's thread; relaxed.
struct PollCount {
  std::atomic<std::uint32_t> number{0};
  std::atomic<std::uint32_t> away{0};  ///< after how many of those measured it has been away for long
  std::uint64_t left = 0;              ///< ticks when it went away, if that is measured
};

struct Task;

/// What every switch and every call touch of a task, but for the fiber's own.
struct TaskHead {
  Task* next = nullptr;   ///< link of the ready queue or of an inbox; a task is in at most one
  CurrentWorker worker;   ///< where it runs
  void* owner = nullptr;  ///< the MPI layer's Rank; opaque here
  std::uint32_t id = 0;   ///< index in the scheduler = local rank index
  std::atomic<TaskState> state{TaskState::kInit};  ///< for state dumps, and hints inside its worker; relaxed
  TaskKind kind = TaskKind::kRank;
  bool inside = false;                 ///< in the library: between entry and return to user code (Inside)
  std::atomic<bool> monitored{false};  ///< its worker has admitted threads; written by that, relaxed
};

/// With thousands of tasks a switch takes as long as the cache lines that it touches. The first has what every switch
/// touches, the second what starting needs, and measuring, the third what a call and a wait leave for state dumps.
struct alignas(kCacheLine) Task : TaskHead, ult::Fiber {
  void (*entry)(void*) = nullptr;     ///< what spawn() was given, and
  timers::ProcessMeter meter;         ///< what it has run, if switches are metered; ends the second line
  void* argument = nullptr;           ///< of entry
  std::atomic<const char*> call{""};  ///< MPI call that it is in or was in last; for state dumps; relaxed
  std::atomic<std::uint64_t> note[7] = {};  ///< what it waits for, in MPI's words; for state dumps; relaxed
  std::atomic<bool> interrupted{false};     ///< the interrupt hook is to be called (interrupt() in sleep.hpp)
  std::atomic<bool> interrupt_queued{false};  ///< it is in a list by next_interrupted
  bool resumed_early = false;                 ///< for that alone: what it waits for has not come
  std::uint16_t home = 0;  ///< index of the worker on which it, or its rank, began: never changes
  Task* next_interrupted = nullptr;
  Sleeper* sleeper = nullptr;  ///< it is in sleep_until()
  PollCount polls;
  Task* rank_task = nullptr;  ///< of a helper fiber: the task of the rank that it works for
  /// What of the task belongs to its worker, which it cannot leave therefore; counted by its own thread.
  std::atomic<int> anchors{0};
  Moving* moving = nullptr;  ///< null: it does not move, nor does any other of the scheduler

  void set_state(TaskState now) noexcept { state.store(now, std::memory_order_relaxed); }
  TaskState get_state() const noexcept { return state.load(std::memory_order_relaxed); }
};
#if !defined(TMPI_ASAN) && !defined(TMPI_TSAN)
static_assert(offsetof(ult::Fiber, stack) + sizeof(TaskHead) == kCacheLine);
#endif

/// The task that runs on the calling thread, null on a thread that is no worker. Never cache the result
/// across a scheduling point: the task may continue on another thread. Does not suspend.
Task* current() noexcept;

namespace detail {
// Where it is written what runs on the calling thread; null on threads that are no workers. initial-exec: one load, no
// call, also inside libtmpi.so (which is there from the start, never dlopen'ed late).
extern constinit thread_local Task** t_running __attribute__((tls_model("initial-exec")));
}  // namespace detail

/// The same as a part of the caller, which must have no scheduling point: a compiler keeps the thread's address.
[[gnu::always_inline]] inline Task* current_until_suspended() noexcept {
  Task** running = detail::t_running;
  return running == nullptr ? nullptr : *running;
}

/// Puts the calling task at the end of its worker's ready queue and runs the others first. SUSPENDS (returns
/// at once when nobody else is ready, after a look at inbox and network).
void yield() noexcept;

/// The same for a task that has looked for something in vain and is likely to look again: counted, so that it is
/// noticed when nothing else happens any more (PollHook in scheduler.hpp). SUSPENDS.
void yield_polling() noexcept;

/// The kernel's number of the thread that runs the task's worker; 0: it does not run yet. Any thread.
int os_thread_of(const Task& task) noexcept;

/// Index of the worker on which the calling task, or its rank, began. Never changes; a number by which ranks are
/// grouped (mpi/shm/worker_groups.hpp). Not on threads that run no task.
inline int home_of_current() noexcept {
  return current()->home;
}

/// Makes a blocked task ready on its worker; any thread. The caller must own the wake-up (see Waiter).
void make_ready(Task& task) noexcept;

}  // namespace tmpi::sched
