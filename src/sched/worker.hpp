// Worker: one OS thread that runs tasks. Internal to sched; the rest of tmpi uses task.hpp, waiter.hpp and
// scheduler.hpp.
//
// A blocking task goes straight to the next ready one: there is no loop between them (docs/scheduling.md).
// The worker's own flow of control, the root, runs only before the first and after the last task. With
// nothing ready, the worker idles on the stack of the task that blocked last: if that task is the one to be
// woken, nothing is switched at all.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "sched/event_watch.hpp"
#include "sched/inbox.hpp"
#include "sched/monitor.hpp"
#include "sched/ready_queue.hpp"
#include "sched/scheduler.hpp"
#include "sched/helper.hpp"
#include "sched/thread_task.hpp"
#include "timers/meter.hpp"
#include "ult/switch.hpp"

namespace tmpi::sched {

/// What all workers of a process share.
struct Shared {
  std::atomic<int> unfinished{0};  ///< tasks; at zero the workers end
  std::uint64_t spin_ticks = 0;
  bool oversubscribed = false;
  StallHook stall_hook = nullptr;
  EventWatch events;
  // At least between two looks at the event source, at switches, while something is expected from there, and
  // while nothing is.
  std::uint64_t expectant_ticks = 0;
  std::uint64_t quiet_ticks = 0;
  std::atomic<int> asleep{0};  ///< workers that sleep; the last one to come watches for a stall
  std::size_t stack_size = 0;  ///< of helpers, as of all tasks
  bool exec_stacks = false;
  std::vector<std::unique_ptr<Worker>> workers;
};

class alignas(64) Worker {
 public:
  Worker(Shared& shared, int index) noexcept
      : shared_(shared), index_(index), helpers_(*this, shared.stack_size, shared.exec_stacks) {}
  ~Worker();

  // Set-up, before the worker's thread runs.
  void use(std::unique_ptr<Policy> policy) noexcept { ready_.use(std::move(policy)); }
  void set_event_source(const EventSource& source) noexcept {
    poll_ = source.poll;
    expected_ = source.expected;
  }
  void set_drain_hook(DrainHook hook) noexcept { drain_hook_ = hook; }

  // Any thread.
  /// Takes effect at the worker's next switch.
  void set_switch_hook(SwitchHook hook) noexcept { switch_hook_.store(hook, std::memory_order_release); }
  int index() const noexcept { return index_; }
  std::uint64_t switches() const noexcept { return switches_.load(std::memory_order_relaxed); }
  /// Makes a blocked task of this worker ready. `here` is the caller's this_worker().
  void make_ready(Task& task, const Worker* here) noexcept;
  /// Makes the worker look around, if it sleeps too.
  void poke() noexcept;
  /// The same, for somebody who has just left something for the drain hook: nothing to do unless it sleeps.
  void wake_if_parked() noexcept {
    if (inbox_.asleep()) [[unlikely]]
      poke();
  }

  // The worker's thread.
  /// Runs tasks until all tasks of the process have finished.
  void run() noexcept;
  /// Makes the calling thread this worker and its flow of control `task`.
  void adopt(Task& task) noexcept;
  Task* running() const noexcept { return running_; }
  int ready() const noexcept { return ready_.length(); }
  timers::CoreMeter& meter() noexcept { return meter_; }
  /// Suspends the calling task, which somebody will make ready.
  void block(Task& self) noexcept;
  void yield(Task& self) noexcept;
  [[noreturn]] void finish() noexcept;

  HelperPool& helpers() noexcept { return helpers_; }
  const HelperPool& helpers() const noexcept { return helpers_; }
  /// Leaves the calling task for a helper, until that suspends or has finished: then the calling task goes
  /// on before anybody else.
  void hand_off_to(Task& self, HelperFiber& helper) noexcept;
  /// The running helper has done its work. Returns when there is more.
  void retire(HelperFiber& helper) noexcept;

  // Threads of ranks (threads.cpp, docs/threads.md).
  bool admits_threads() const noexcept { return admits_threads_; }
  /// The worker's thread: from now on the monitor counts.
  void admit_threads(bool inside) noexcept;
  /// From user code into the worker and back: its own thread, or one of its ranks'.
  void enter() noexcept { monitor_.lock(); }
  void leave() noexcept;

 private:
  static constexpr std::uint32_t kClockInterval =
      32;  // switches between two looks at the clock, whether it is time to look at the network
  static constexpr std::uint32_t kYieldsPerSlice =
      64;  // oversubscribed: yields before the core is offered to others

  void drain_inbox() noexcept;
  Task* next_ready() noexcept;
  Task* look_around() noexcept;
  Task* idle() noexcept;
  bool sleep(std::uint32_t rung) noexcept;
  bool sleep_watching(std::uint32_t rung, std::uint64_t nanoseconds) noexcept;
  bool watch_for_stall(std::uint32_t rung) noexcept;
  void hand_watch_over() noexcept;
  void poll_at_switch() noexcept;
  [[noreturn]] void leave_for_good() noexcept;
  Task* spin() noexcept;
  Task* idle_shared() noexcept;
  void look_after_mail() noexcept;
  void make_ready_here(Task& task) noexcept;
  void wake(ThreadTask& thread) noexcept;
  void tend_inbox() noexcept;
  void block_elsewhere(Task& self) noexcept;
  void block_thread(ThreadTask& self) noexcept;
  void sleep_at_inbox(ThreadTask& self) noexcept;
  void sleep_in_own_bed(ThreadTask& self) noexcept;
  void yield_elsewhere(Task& self) noexcept;
  void back_to_lender(Task& helper) noexcept;
  void lend_elsewhere(Task& self, HelperFiber& helper) noexcept;
  void switch_from(ult::Fiber& fiber, Task* from, Task& to) noexcept;
  void before_switch(Task* from, Task& to) noexcept;
  void prepare(Task& task) noexcept;
  void report(Task* from, Task* to) noexcept {
    // acquire pairs with set_switch_hook(): what the hook needs has been set up.
    if (const SwitchHook hook = switch_hook_.load(std::memory_order_acquire)) [[unlikely]]
      hook(from, to);
  }
  bool all_finished() const noexcept { return shared_.unfinished.load(std::memory_order_acquire) == 0; }

  // Used at every switch, by this thread only.
  ult::Thread thread_;
  Task* running_ = nullptr;
  Task* lender_ = nullptr;  // a task that has lent its turn to the running one and goes on after it
  std::atomic<SwitchHook> switch_hook_{nullptr};
  bool (*poll_)() noexcept = nullptr;  // the event source's
  const std::atomic<int>* expected_ = nullptr;
  std::uint64_t last_poll_ = 0;  // ticks
  bool progressed_ = false;         // the event source has made progress
  // It has been the watcher, and nobody else has been asked to be. Under the monitor, as what is below.
  bool watched_ = false;
  DrainHook drain_hook_ = nullptr;
  std::uint32_t until_clock_ = kClockInterval;
  std::uint32_t yields_ = 0;
  std::atomic<std::uint64_t> switches_{0};  // written by this thread only
  ReadyQueue ready_;
  Shared& shared_;
  ult::Fiber root_;  // the thread's own flow of control
  int index_;
  HelperPool helpers_;
  timers::CoreMeter meter_;

  // Used under the monitor once threads have been admitted; not at all before.
  bool admits_threads_ = false;
  bool idle_ = false;              // the worker's thread has nothing to run and has left the monitor
  ThreadTask* blocked_ = nullptr;  // threads that wait, the latest first
  ThreadTask* keeper_ = nullptr;   // the one of them that sleeps at the inbox
  Monitor monitor_;

  // Written by other threads.
  Inbox inbox_;
  alignas(64) std::atomic<bool> poked_{false};
  Task poke_;  // what poke() puts into the inbox: no task, a reason to look
};

/// The worker that the calling thread is, or whose inside it is in (a thread of a rank); null elsewhere. Out
/// of line and opaque, so that no compiler keeps the thread-local or its address across a switch.
Worker* this_worker() noexcept;

/// The calling thread is `worker` from now on, and `*running` is what runs on it; nulls: neither.
void set_this_thread(Worker* worker, Task** running) noexcept;

}  // namespace tmpi::sched
