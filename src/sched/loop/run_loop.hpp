// RunLoop: what of a worker a switch touches: it chooses the next task and switches to it (docs/design/scheduling.md). What a
// worker looks at beside its inbox and its ready queue, how it idles, and how tasks move, it does not know (BesideLoop).
// Internal to sched.
//
// A blocking task goes straight to the next ready one: there is no loop between them. The loop's own flow of control, the
// root, runs only before the first and after the last task, and when a task leaves for another worker. With nothing
// ready the worker idles on the stack of the task that blocked last: if that task is the one to be woken, nothing is
// switched at all.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/platform.hpp"
#include "sched/door/door.hpp"
#include "sched/door/role.hpp"
#include "sched/hooks.hpp"
#include "sched/loop/beside_loop.hpp"
#include "sched/loop/ready_queue.hpp"
#include "sched/loop/reasons.hpp"
#include "timers/meter.hpp"
#include "ult/switch.hpp"

namespace tmpi::sched {

/// What the loops of a process share.
struct LoopShared {
  /// Tasks; at zero the loops end. acq_rel and acquire: who sees zero sees all that the tasks have done.
  std::atomic<int> unfinished{0};
  bool oversubscribed = false;
  // At least between two looks outside, at switches, while something is expected from there, and while nothing is.
  std::uint64_t expectant_ticks = 0;
  std::uint64_t quiet_ticks = 0;
  std::vector<Parking*> parkings;  ///< of all loops
  Parking::Shared parking;
};

class alignas(kCacheLine) RunLoop : protected BesideLoop {
 public:
  RunLoop(LoopShared& shared, int index) noexcept : shared_(shared), index_(index), door_(shared.parking) {}
  RunLoop(const RunLoop&) = delete;
  RunLoop& operator=(const RunLoop&) = delete;

  // Set-up, before it runs.
  void use(std::unique_ptr<Policy> policy) noexcept TMPI_UNCHECKED { ready_.use(std::move(policy)); }
  void look_at_each_switch(DrainHook hook) noexcept { drain_hook_ = hook; }
  /// A switch looks outside now and then, more often while something is expected.
  void look_outside_if(bool outside, const std::atomic<int>* expected) noexcept {
    outside_ = outside;
    expected_ = expected;
  }

  // Any thread.
  int index() const noexcept { return index_; }
  int thread() const noexcept { return thread_id_.load(std::memory_order_relaxed); }
  /// Takes effect at the next switch.
  void set_switch_hook(SwitchHook hook) noexcept { switch_hook_.store(hook, std::memory_order_release); }
  /// Switches for another reason than polls in vain; and with those.
  std::uint64_t activity() const noexcept { return switches_.load(std::memory_order_relaxed); }
  std::uint64_t switches() const noexcept { return activity() + polled_.load(std::memory_order_relaxed); }
  /// Tasks that are ready, the running one not counted.
  int ready() const noexcept TMPI_UNCHECKED { return ready_.length(); }
  Parking& parking() noexcept { return door_.parking(); }
  /// Makes a blocked task of this worker ready. `here`: the caller's this_loop().
  void make_ready(Task& task, const RunLoop* here) noexcept {
    if (here == this) {
      inside_worker.assume();
      return make_ready_here(task);
    }
    parking().push(task);
    if (reasons_.tasks_move()) [[unlikely]]
      left_in_inbox();
  }
  /// One more task, which will not have finished until finish(); one that has moved away; whether there are several.
  void settle() noexcept { residents_.fetch_add(1, std::memory_order_relaxed); }
  void unsettle() noexcept { residents_.fetch_sub(1, std::memory_order_relaxed); }
  int residents() const noexcept { return residents_.load(std::memory_order_relaxed); }
  bool has_company() const noexcept { return residents() > 1; }

  Reasons& reasons() noexcept { return reasons_; }

  // The worker's thread.
  /// Runs tasks until all tasks of the process have finished.
  void run() noexcept;
  /// Makes the calling thread this worker and its flow of control `task`.
  void adopt(Task& task) noexcept;
  Task* running() const noexcept TMPI_REQUIRES(inside_worker) { return running_; }
  /// lone_worker().
  bool lone() noexcept TMPI_REQUIRES(inside_worker) {
    if (!ready_.empty() || resume_next_ != nullptr || !parking().empty()) return false;
    if (reasons_.any() && !lone_though_watchful()) [[unlikely]]
      return false;
    return ++glances_ % kGlances != 0;
  }
  /// Suspends the calling task, which somebody will make ready.
  void block(Task& self) noexcept TMPI_REQUIRES(inside_worker);
  /// Puts it behind those that are ready. `polled`: it has looked for something in vain.
  void yield(Task& self) noexcept TMPI_REQUIRES(inside_worker) { give_turn(self, switches_); }
  void yield_polling(Task& self) noexcept TMPI_REQUIRES(inside_worker) { give_turn(self, polled_); }
  [[noreturn]] void finish() noexcept TMPI_REQUIRES(inside_worker);
  /// Direct hand-off: leaves the calling task for a helper fiber, until that suspends or has finished; then the calling
  /// task goes on before anybody else.
  void hand_off_to(Task& self, Task& helper) noexcept TMPI_REQUIRES(inside_worker);
  bool handed_off() const noexcept TMPI_REQUIRES(inside_worker) { return resume_next_ != nullptr; }
  timers::CoreMeter& meter() noexcept { return meter_; }

  // Who is inside (door.hpp).
  Door& door() noexcept { return door_; }
  ReadyQueue& queue() noexcept TMPI_REQUIRES(inside_worker) { return ready_; }
  const ReadyQueue& queue() const noexcept TMPI_REQUIRES(inside_worker) { return ready_; }
  void make_ready_here(Task& task) noexcept TMPI_REQUIRES(inside_worker) {
    if (task.kind != TaskKind::kRank || diverted_) [[unlikely]]
      return make_ready_specially(task);
    task.set_state(TaskState::kReady);
    ready_.push(task);
  }
  /// From now on all that become ready are left to make_ready_specially(), or no longer.
  void divert(bool diverted) noexcept TMPI_REQUIRES(inside_worker) { diverted_ = diverted; }
  bool diverted() const noexcept TMPI_REQUIRES(inside_worker) { return diverted_; }
  /// Before the first switch to a task.
  void prepare(Task& task) noexcept TMPI_REQUIRES(inside_worker);
  /// Puts a task that has given up its turn behind those that are ready.
  void push_yielded(Task& task) noexcept TMPI_REQUIRES(inside_worker);
  /// The running task leaves for the root, which goes on in root_goes_on(). Returns where it has been resumed.
  void leave_for_root(Task& self) noexcept TMPI_REQUIRES(inside_worker);
  void take_in_what_is_left() noexcept {
    if (drain_hook_ != nullptr) drain_hook_(index_);
  }
  /// The running task's has changed.
  void take_thread_pointer_of(const Task& running) noexcept TMPI_REQUIRES(inside_worker) {
    ult::take_thread_pointer(thread_, running);
  }
  bool finished() const noexcept { return shared_.unfinished.load(std::memory_order_acquire) == 0; }

 protected:
  ~RunLoop();
  LoopShared& shared() noexcept { return shared_; }
  /// What next_ready() does when neither the inbox nor a Reason is in its way.
  Task* pop_after_sources() noexcept TMPI_REQUIRES(inside_worker);
  /// The calling thread is the worker's own.
  bool runs_here() const noexcept { return detail::t_running == &running_; }

 private:
  friend struct FactsOfTasks;                  // debugger_facts.cpp
  using Counter = std::atomic<std::uint64_t>;  // relaxed: written by this thread only, read as figures
  static constexpr std::uint32_t kClockInterval =
      32;  // switches between two looks whether it is time to look outside
  static constexpr std::uint32_t kYieldsPerSlice = 64;  // oversubscribed: until the core is offered to others
  static constexpr std::uint32_t kGlances = 16;  // that may follow each other without a scheduling point

  static void task_main(ult::Fiber& fiber) noexcept;
  void look_at_sources() noexcept TMPI_REQUIRES(inside_worker);
  void look_outside_in_time() noexcept TMPI_REQUIRES(inside_worker);
  Task* next_ready() noexcept TMPI_REQUIRES(inside_worker);
  Task* choose_after(Task*& from) noexcept TMPI_REQUIRES(inside_worker);
  Task* next_instead_of(Task& self) noexcept TMPI_REQUIRES(inside_worker);
  void suspend(Task& self) noexcept TMPI_REQUIRES(inside_worker);
  static void go_on_after_wait(Task& self) noexcept TMPI_REQUIRES(inside_worker);
  static void leave_waiting(ult::Thread& thread, Task& self, Task& next) noexcept
      TMPI_REQUIRES(inside_worker);
  static void leave_ready(ult::Thread& thread, Task& self, Task& next) noexcept TMPI_REQUIRES(inside_worker);
  void go_on(Task& self) noexcept TMPI_REQUIRES(inside_worker) {
    if (reasons_.any()) [[unlikely]]
      resumed(self);
  }
  void give_turn(Task& self, Counter& counter) noexcept TMPI_REQUIRES(inside_worker);
  void before_switch(Task* from, Task& to, Counter& counter) noexcept TMPI_REQUIRES(inside_worker);
  void switch_from(ult::Fiber& fiber, Task* from, Task& to) noexcept TMPI_REQUIRES(inside_worker);
  [[noreturn]] void leave_for_good() noexcept TMPI_REQUIRES(inside_worker);
  void report(Task* from, Task* to) noexcept {
    // acquire pairs with set_switch_hook(): what the hook needs has been set up.
    if (const SwitchHook hook = switch_hook_.load(std::memory_order_acquire)) [[unlikely]]
      hook(from, to);
  }

  // Used at every switch, by this thread only.
  Task* running_ TMPI_GUARDED_BY(inside_worker) = nullptr;
  Task* resume_next_ TMPI_GUARDED_BY(inside_worker) =
      nullptr;  // has handed off to the running task, and goes on after it
  std::atomic<SwitchHook> switch_hook_{nullptr};
  DrainHook drain_hook_ = nullptr;
  const std::atomic<int>* expected_ = nullptr;
  std::uint64_t last_outside_ TMPI_GUARDED_BY(inside_worker) = 0;  // ticks
  Reasons reasons_;
  std::uint32_t until_clock_ TMPI_GUARDED_BY(inside_worker) = kClockInterval;
  bool outside_ = false;
  bool diverted_ TMPI_GUARDED_BY(inside_worker) = false;
  std::uint32_t yields_ TMPI_GUARDED_BY(inside_worker) = 0;
  std::uint32_t glances_ TMPI_GUARDED_BY(inside_worker) = 0;
  Counter switches_{0};
  Counter polled_{0};  // those of yield_polling()
  ReadyQueue ready_ TMPI_GUARDED_BY(inside_worker);
  LoopShared& shared_;
  ult::Thread thread_ TMPI_GUARDED_BY(inside_worker);  // its first half; what follows is hardly touched
  ult::Fiber root_;                                    // the thread's own flow of control
  const int index_;
  timers::CoreMeter meter_;
  std::atomic<int> thread_id_{0};  // relaxed
  std::atomic<int> residents_{0};  // relaxed; written by any thread
  // Its inbox is written by other threads.
  Door door_;
};

/// The loop that the calling thread runs, or inside whose worker it is (a thread of a rank); null elsewhere. Out of line
/// and opaque, so that no compiler keeps the thread-local or its address across a switch.
RunLoop* this_loop() noexcept;

/// The calling thread runs `loop` from now on, and `*running` is what runs on it; nulls: neither.
void set_this_thread(RunLoop* loop, Task** running) noexcept;

}  // namespace tmpi::sched
