// Scheduler: the workers of one node process and the tasks on them. Created once per process. The headers of this folder
// are the room's contract; how it is done is in the folders below (docs/design/architecture.md, "Inside src/sched").
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/bias.hpp"
#include "base/result.hpp"
#include "sched/file_ways.hpp"
#include "sched/hooks.hpp"
#include "sched/move.hpp"
#include "sched/progress.hpp"
#include "sched/task.hpp"

namespace tmpi::sched {

struct Options {
  int workers = 1;
  int tasks = 1;                            ///< capacity for spawn(); stacks are reserved, not committed
  std::size_t stack_size = 1 << 20;         ///< bytes per fiber, rounded up to pages
  std::string thread_name = "tmpi-worker";  ///< of workers' threads, followed by "/" and a number
  std::size_t least_stack_size = 0;         ///< what will do if address space is scarce; 0: stack_size
  std::string policy = "fifo";              ///< "fifo", "lifo", "random:SEED"
  FileChoice file_io = {};                  ///< --file-io
  std::string balance = "none";  ///< --balance: how tasks move between workers; others only with "fifo"
  bool bind = true;              ///< pin worker i to the i-th allowed core (hwloc); false: --bind-to none
  int cores_per_worker = 1;      ///< then to the i-th so many, on which the threads of its tasks run as well
  bool exec_stacks = false;      ///< the program has PT_GNU_STACK RWE
  std::vector<std::uintptr_t> stack_ends = {};  ///< of each task's stack (ult::StackOptions); empty: anywhere
  bool owns_calling_thread = true;              ///< the thread that calls run() becomes worker 0
  /// Who looks at the event source beside the workers (progress.hpp), and with kCore on how many cores.
  /// kPoll if there will be no event source.
  Progress progress = Progress::kPoll;
  int progress_cores = 1;
  int progress_numa_node = -1;  ///< where the network's device is; -1: unknown
  /// For tests without such a machine, and with bind = false: of each worker its NUMA node; how memory is moved.
  std::vector<int> numa_nodes = {};
  MoveMemory move_memory = move_by_kernel;
  int spin_microseconds =
      50;  ///< how long an idle worker looks for work before it sleeps; 0 when oversubscribed
};

class AssistPoint;

class Scheduler {
 public:
  /// Failure sentences: senseless numbers, unknown policy, stacks that do not fit.
  static Result<std::unique_ptr<Scheduler>> create(const Options& options);
  virtual ~Scheduler() = default;

  /// A new task on worker `worker`, ready to run `entry(arg)` on its own stack. Before run(), or from a task.
  virtual Task& spawn(int worker, void (*entry)(void*), void* arg, void* owner) = 0;

  /// A task that is yet to be started, and what becomes of its stack and its worker.
  struct NewTask {
    int worker = 0;
    void (*entry)(void*) = nullptr;
    void* argument = nullptr;
    void* owner = nullptr;
  };
  /// Adds tasks beyond those announced to create(), while others run or wait; each is unfinished from now on and does
  /// nothing until start() or drop(). Any thread. Returns the id of the first, the others follow. Failure sentences:
  /// the tasks announced have not all been spawned, or have all finished; more than kMostAdded in all; no room for
  /// stacks.
  virtual Result<int> add(std::span<const NewTask> tasks) = 0;
  static constexpr int kMostAdded = 4096;
  /// Lets an added task run. Any thread.
  virtual void start(const Task& task) noexcept = 0;
  /// An added task will never run: it has finished. Any thread.
  virtual void drop(const Task& task) noexcept = 0;
  /// Tasks of the worker that have not finished. Any thread; a figure.
  virtual int residents(int worker) const = 0;

  /// Makes the calling thread worker 0 and its present flow of control task 0 (a program started by itself,
  /// without a node process, is one rank): no own stack, no run(), no pinning; it ends with the thread, never
  /// by finish_current(). Only with workers == 1.
  virtual Task& adopt_current_thread(void* owner) = 0;

  /// Starts the workers, returns when every task has finished. The calling thread is worker 0 if
  /// owns_calling_thread. Each worker thread has an alternate signal stack: handlers installed with
  /// SA_ONSTACK can report an overflowed fiber stack.
  virtual void run() = 0;

  /// Ends the calling task: its fiber is left and never resumed. Does not return.
  [[noreturn]] virtual void finish_current() = 0;

  /// All hooks: set before run() or by the adopted task.
  virtual void set_switch_hook(SwitchHook hook) = 0;
  virtual void set_event_source(const EventSource& source) = 0;

  /// Switches from now on account time and counters to tasks and workers (metering.hpp). Any thread, any
  /// time, idempotent; without it a switch reads no clock. A worker that runs a task meanwhile begins with
  /// its next switch.
  virtual void meter_switches() noexcept = 0;
  /// Registers an observer, which is called before the switch hook, and meters switches. Any thread, any time;
  /// there is room for four.
  virtual void observe_switches(SwitchObserver observer) = 0;
  /// Before any task runs. True: who leaves something may do so by a plain store before quick_barrier(), since who is
  /// about to sleep calls process_barrier() before its last look; false: by a seq_cst store.
  virtual bool set_drain_hook(DrainHook hook) = 0;
  virtual void set_stall_hook(StallHook hook) = 0;
  virtual void set_interrupt_hook(InterruptHook hook) = 0;
  /// Before any task runs; unused if tasks stay. Where workers may be open (is_open()) who leaves something for one has
  /// to look at that afterwards, and set_drain_hook() has returned false.
  virtual void set_move_hooks(const MoveHooks& hooks) = 0;
  /// Worker `worker` computes for long, and others may take its tasks meanwhile: what is left for its drain hook would
  /// wait, and them with it. A worker that opens calls the drain hook after that: of a seq_cst store before this call and
  /// what is left there, one is seen. Any thread.
  virtual bool is_open(int worker) const noexcept = 0;
  /// So often has a task come to worker `worker` from another one. Any thread.
  virtual std::uint64_t moves_to(int worker) const = 0;
  /// Tells whose memory follows tasks between NUMA nodes (follow.hpp). Before any task runs.
  virtual void set_memory_hook(MemoryHook hook) = 0;
  virtual void set_poll_hook(PollHook hook, double period = 1) = 0;

  /// The ranks of the calling worker may have threads from now on (thread_task.hpp). Called by a task on its
  /// worker, inside or in user code; idempotent, never undone.
  virtual void admit_threads() noexcept = 0;
  /// Wakes worker `worker` if it sleeps, after something has been left for its drain hook with a seq_cst
  /// store. Any thread; one load of a shared line if it does not sleep.
  virtual void wake_if_parked(int worker) noexcept = 0;

  /// Where `worker` is offered part of somebody's work while it idles (assist.hpp). Any thread.
  virtual AssistPoint& assist_point(int worker) noexcept = 0;

  virtual int workers() const = 0;
  /// Tasks of worker `worker` that are ready, the running one not counted: a recent number. Any thread.
  virtual int ready(int worker) const = 0;
  virtual int worker_of(const Task& task) const = 0;
  /// True if there are more workers than CPUs this process may use (affinity mask, cgroup quota): idle
  /// workers then do not spin.
  virtual bool oversubscribed() const = 0;
  /// One line per worker: "worker 0: core 3 (PU 6), NUMA node 0" for --report-bindings.
  virtual std::vector<std::string> bindings() const = 0;
  /// Progress threads spin: they have been asked for (Progress::kCore), and there are cores for them.
  virtual bool progress_spins() const = 0;
  /// The same as bindings() for progress threads, after set_event_source(); empty if there are none.
  virtual std::vector<std::string> progress_bindings() const = 0;

  /// Tasks spawned so far (finished ones included), and each by its id: for state dumps. Any
  /// thread.
  virtual int tasks() const = 0;
  virtual const Task& task(int id) const = 0;

  /// Task whose guard page holds `address`, or null. Async-signal-safe.
  virtual const Task* guard_page_owner(const void* address) const = 0;
  /// The running task if a fault at `address` says that it has overflowed its stack, else null: the address lies in a
  /// guard, or between `stack_pointer`, which has left the stack, and the stack. Async-signal-safe.
  virtual const Task* overflowed(const void* address, const void* stack_pointer) const = 0;
  /// Bytes a task may use of its stack, after rounding, and halving if there was no room.
  virtual std::size_t stack_size() const = 0;
  /// Bytes of its stack the task has ever touched (by residency of pages), 0 if unknown.
  virtual std::size_t stack_high_water(const Task& task) const = 0;
  /// How long ready tasks of worker `worker` have waited for one that slept in hold_until() (sleep.hpp): ns
  /// so far. Known late by up to 1/16 of a sleep, or 20 ms: never too much. Any thread.
  virtual std::uint64_t held(int worker) const = 0;
  /// Number of switches so far, all workers (relaxed counters).
  virtual std::uint64_t switches() const = 0;
  /// Changes when anything happens but polls in vain, and what they switch; about a second late where tasks have begun
  /// to do something else between their polls. Any thread.
  virtual std::uint64_t activity() const = 0;
};

/// Ends the process with a sentence: the system refuses what a job needs (threads, descriptors). Any thread; does not
/// return.
using LimitHook = void (*)(const std::string& sentence);
/// Without one the sentence goes to stderr.
void end_at_limits_by(LimitHook hook) noexcept;

namespace detail {
// Written before any task runs.
extern bool g_one_worker, g_single_worker;
extern Bias* g_bias;
}  // namespace detail

/// The process's scheduler; null before create(). Exactly one exists.
Scheduler* scheduler() noexcept;

/// Index of the worker that runs the calling thread, -1 elsewhere. Never cached across a scheduling point.
int current_worker() noexcept;

/// In the child of a fork(2): the calling thread is no worker there, nor inside one; current() is null, and
/// nothing suspends. Async-signal-safe.
void forget_this_thread() noexcept;

/// Number of tasks that are ready on the calling thread's worker, the running one not counted; 0 on a thread
/// that is no worker.
int ready_tasks() noexcept;

/// Index of the calling thread's worker if nobody else there waits for a turn, as far as a glance shows: no task is
/// ready, has come in, sleeps or has been interrupted; else -1. For who takes in what it waits for itself and goes on
/// without a scheduling point: every 16th call says -1, too, so that it comes to one, where everything is looked at.
int lone_worker() noexcept;

/// True when the process has exactly one worker, and no progress thread: data shared only among tasks needs no
/// atomics then.
inline bool single_worker() noexcept {
  return detail::g_single_worker;
}

/// The same, but there may be a progress thread: no task has anything to do with another worker.
inline bool one_worker() noexcept {
  return detail::g_one_worker;
}

/// With one worker and a progress thread that sleeps most of the time: who is inside the worker may use what tasks share,
/// without the locks, while it is inside this, too. Else null.
inline Bias* bias() noexcept {
  return detail::g_bias;
}

}  // namespace tmpi::sched
