// Worker: one OS thread that runs tasks: chooses the next one and switches to it. How it sleeps is Parking's,
// who else may be inside it Entrance's. Internal to sched; the rest of tmpi uses task.hpp, waiter.hpp and
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
#include <utility>
#include <vector>

#include "base/platform.hpp"
#include "sched/assist.hpp"
#include "sched/attendant.hpp"
#include "sched/balancer.hpp"
#include "sched/entrance.hpp"
#include "sched/file_ring.hpp"
#include "sched/helper.hpp"
#include "sched/move.hpp"
#include "sched/opening.hpp"
#include "sched/patience.hpp"
#include "sched/poll_watch.hpp"
#include "sched/progress.hpp"
#include "sched/ready_queue.hpp"
#include "sched/scheduler.hpp"
#include "sched/sleepers.hpp"
#include "sched/stall.hpp"
#include "sched/thread_task.hpp"
#include "timers/meter.hpp"
#include "ult/switch.hpp"

namespace tmpi::sched {

using Entrance = BasicEntrance<System, Task>;
using Parking = Entrance::Parking;
using Opening = BasicOpening<System, Task>;
using Thieves = BasicThieves<System>;

/// What all workers of a process share.
struct Shared {
  /// Tasks; at zero the workers end. acq_rel and acquire: who sees zero sees all that the tasks have done.
  std::atomic<int> unfinished{0};
  std::uint64_t spin_ticks = 0;
  bool oversubscribed = false;
  // At least between two looks at the event source, at switches, while something is expected from there, and
  // while nothing is.
  std::uint64_t expectant_ticks = 0;
  std::uint64_t quiet_ticks = 0;
  std::size_t stack_size = 0;  ///< of helper fibers, as of all tasks
  bool exec_stacks = false;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<Parking*> parkings;  ///< the workers'
  Parking::Shared parking;
  StallWatch stall{workers};
  InterruptHook interrupt_hook = nullptr;
  PollWatch polls{workers};
  std::unique_ptr<Balancer> balancer;  ///< null: tasks stay where they are
  Thieves thieves;
};

class alignas(kCacheLine) Worker {
 public:
  Worker(Shared& shared, int index) noexcept
      : shared_(shared),
        index_(index),
        helpers_(*this, shared.stack_size, shared.exec_stacks),
        entrance_(shared.parking) {}
  ~Worker();

  // Set-up, before the worker's thread runs.
  void use(std::unique_ptr<Policy> policy) noexcept { ready_.use(std::move(policy)); }
  /// So many more tasks may be ready at a time. False: no memory.
  [[nodiscard]] bool reserve_ready(int more) noexcept { return ready_.reserve(more); }
  void set_event_source(const EventSource& source) noexcept {
    poll_ = source.poll;
    expected_ = source.expected;
  }
  void set_drain_hook(DrainHook hook) noexcept { drain_hook_ = hook; }
  void set_balancer(Balancer& balancer) noexcept {
    balancer_ = &balancer;
    watch_for(kMoves);
  }

  /// Helper fibers go on while the worker's own thread computes; only if its tasks run first in, first out.
  void have_attendant() {
    if (ready_.fifo()) attendant_ = std::make_unique<Attendant>(*this);
  }
  /// When its own thread has ended.
  void dismiss_attendant() noexcept {
    if (attendant_ != nullptr) attendant_->stop();
  }

  // Any thread.
  /// Takes effect at the worker's next switch.
  void set_switch_hook(SwitchHook hook) noexcept { switch_hook_.store(hook, std::memory_order_release); }
  int index() const noexcept { return index_; }
  int thread() const noexcept { return thread_id_.load(std::memory_order_relaxed); }
  std::uint64_t switches() const noexcept {
    return activity() + polled_switches_.load(std::memory_order_relaxed);
  }
  /// Switches for another reason than polls in vain.
  std::uint64_t activity() const noexcept { return switches_.load(std::memory_order_relaxed); }
  /// Makes a blocked task of this worker ready. `here` is the caller's this_worker().
  void make_ready(Task& task, const Worker* here) noexcept {
    if (here == this) {
      make_ready_here(task);
    } else {
      parking().push(task);
      if (tasks_move()) [[unlikely]]
        invite();
    }
  }
  Parking& parking() noexcept { return entrance_.parking(); }
  /// interrupt() of a task of this worker; also in a signal handler.
  void interrupt(Task& task) noexcept;
  /// One more task, which will not have finished until finish(); and whether there are others than one.
  void settle() noexcept { residents_.fetch_add(1, std::memory_order_relaxed); }
  void unsettle() noexcept { residents_.fetch_sub(1, std::memory_order_relaxed); }
  int residents() const noexcept { return residents_.load(std::memory_order_relaxed); }
  /// So often has a task come from another worker.
  std::uint64_t came() const noexcept { return came_.load(std::memory_order_relaxed); }
  bool has_company() const noexcept { return residents_.load(std::memory_order_relaxed) > 1; }
  /// So often has it looked at the event source.
  std::uint64_t looks() const noexcept { return looks_.load(std::memory_order_relaxed); }
  /// It idles, and does nothing but look; so it is, too, while another thread has its core.
  bool spins() const noexcept { return spins_.load(std::memory_order_relaxed); }
  /// It has nothing to run.
  bool idles() const noexcept { return spins() || sleeps_.load(std::memory_order_relaxed); }
  /// ns for which ready tasks have waited for one that holds the worker.
  std::uint64_t held() const noexcept { return held_.load(std::memory_order_relaxed); }
  AssistPoint& assist_point() noexcept { return assist_point_; }
  /// It has admitted threads: no task comes or goes any more.
  bool closed() const noexcept { return closed_.load(std::memory_order_relaxed); }
  Balancer* balancer() noexcept { return balancer_; }
  /// It computes, and others may take its tasks.
  bool is_open() const noexcept { return opening_.is_open(); }
  /// Another worker may take something here.
  bool invites() noexcept { return opening_.invites(parking()); }

  // The worker's thread.
  /// Runs tasks until all tasks of the process have finished.
  void run() noexcept;
  /// Makes the calling thread this worker and its flow of control `task`.
  void adopt(Task& task) noexcept;
  Task* running() const noexcept { return running_; }
  int ready() const noexcept { return ready_.length(); }
  /// lone_worker().
  bool lone() noexcept {
    if (!ready_.empty() || resume_next_ != nullptr || !parking().empty()) return false;
    if (watchful() && !lone_where_tasks_move()) [[unlikely]]
      return false;
    return ++glances_ % kGlances != 0;
  }
  /// The task is this worker's until its next scheduling point.
  bool owns(const Task& task) const noexcept { return !opened_ && task.worker == this; }
  /// Threads are about to be admitted: no task comes or goes from now on.
  void close() noexcept;
  timers::CoreMeter& meter() noexcept { return meter_; }
  /// Suspends the calling task, which somebody will make ready.
  void block(Task& self) noexcept;
  void yield(Task& self) noexcept;
  /// Suspends the calling task until its time has come; false: until interrupted.
  bool sleep_until(Task& self, std::uint64_t deadline) noexcept;
  /// Whether a task is ready, after a look at what other workers have left; inside.
  bool anyone_ready() noexcept;
  void add_held(std::uint64_t nanoseconds) noexcept {
    held_.fetch_add(nanoseconds, std::memory_order_relaxed);
  }
  void yield_polling(Task& self) noexcept;
  [[noreturn]] void finish() noexcept;
  enum class Whose { kItsOwn, kThePlans };
  /// Moves the calling task (move.hpp). By its own wish: there it stays until a later plan says something else.
  Moved move(Task& self, Worker& to, Whose whose) noexcept;
  /// What the running task has used since it was last accounted is added to its load.
  void account() noexcept;

  /// The worker is in the flow of control of `task`, null: its own.
  void settle_in(const Task* task) noexcept { settled_.store(task, std::memory_order_release); }
  /// After a switch back to the task, on the worker where it goes on.
  void go_on(Task& self) noexcept {
    if (watchful()) [[unlikely]]
      go_on_watchfully(self);
  }

  // Calls on files, of a task of this worker that runs; inside (worker_files.cpp).
  bool has_file_ring() noexcept;
  /// Only with a ring. False: it takes none now.
  bool give_to_ring(const FileCall& call, FileRing::Answer& answer) noexcept;

  HelperPool& helpers() noexcept { return helpers_; }
  const HelperPool& helpers() const noexcept { return helpers_; }
  /// Direct hand-off: leaves the calling task for a helper fiber, until that suspends or has finished; then
  /// the calling task goes on before anybody else.
  void hand_off_to(Task& self, HelperFiber& helper) noexcept;
  /// The running helper fiber has done its work. Returns when there is more.
  void retire(HelperFiber& helper) noexcept;

  // Of its attendant; inside.
  /// Helper fibers may have suspended.
  void attend() noexcept {
    if (attendant_ != nullptr && helpers_.busy() > 0) [[unlikely]]
      attendant_->expect();
  }
  /// The monitor counts from now on.
  void admit_attendant() noexcept;
  /// Threads are let in; its own thread, which is `inside` or in user code.
  void admit(bool inside) noexcept;
  /// A thread of a rank is let in, too.
  void expect_threads() noexcept { only_attended_ = false; }
  /// The calling thread is the attendant.
  bool attended_here() const noexcept { return attendant_ != nullptr && attendant_->runs_here(); }
  int busy_helpers() const noexcept { return helpers_.busy(); }
  /// A helper fiber is ready that another thread than its own may run, since that is in user code.
  bool has_ready_helper() const noexcept;
  /// Takes that one; null: there is none.
  HelperFiber* take_ready_helper() noexcept;

  // Who is inside (thread_task.hpp).
  Entrance& entrance() noexcept { return entrance_; }
  void leave() noexcept {
    if (attendant_ != nullptr) [[unlikely]]
      attendant_->take_over();
    entrance_.leave(*this);
  }
  /// Before the first switch to a task.
  void prepare(Task& task) noexcept;
  /// Puts a task that has given up its turn behind those that are ready.
  void push_yielded(Task& task) noexcept;

  // The Host of its entrance.
  void look() noexcept;
  bool look_again() noexcept {
    if (drain_hook_ != nullptr && drain_hook_(index_)) return true;
    return balancer_ != nullptr && finds_other_work();
  }
  bool has_ready() const noexcept { return !ready_.empty() || urgent_ != nullptr; }
  bool finished() const noexcept { return shared_.unfinished.load(std::memory_order_acquire) == 0; }
  void spin() noexcept;
  void spin_on() noexcept;
  bool progressed() noexcept {
    const bool asked = assist_point_.take_request();
    return std::exchange(progressed_, false) || asked;
  }
  bool sleep(std::uint32_t epoch) noexcept;
  /// Who has slept goes to work: perhaps nobody watches the event source any more. seq_cst: the progress
  /// thread may be about to sleep.
  void tell_progress() const noexcept {
    if (expected_ != nullptr && expected_->load(std::memory_order_seq_cst) > 0) call_progress();
  }

 private:
  static constexpr std::uint32_t kClockInterval =
      32;  // switches between two looks at the clock, whether it is time to look at the network
  static constexpr std::uint32_t kYieldsPerSlice =
      64;  // oversubscribed: yields before the core is offered to others

  static constexpr std::uint32_t kGlances = 16;  // that may follow each other without a scheduling point

  void make_ready_here(Task& task) noexcept {
    if (task.kind != TaskKind::kRank || opened_) [[unlikely]]
      return make_ready_specially(task);
    task.set_state(TaskState::kReady);
    ready_.push(task);
  }
  void helper_is_ready() noexcept;
  void make_ready_specially(Task& task) noexcept;
  void invite(const Worker* but = nullptr) noexcept;
  void drain_inbox() noexcept;
  void look_at_sources() noexcept;
  Task* next_ready() noexcept;
  Task* next_ready_of_all() noexcept;
  Task* choose_after(Task*& from) noexcept;
  Task* pop_next() noexcept;
  Task* pop_urgent() noexcept;
  bool has_urgent() noexcept;
  void wake_sleepers() noexcept;
  void take_interrupted() noexcept;
  bool interrupted(Task& self) noexcept;
  Task* next_instead_of(Task& self) noexcept;
  void suspend(Task& self) noexcept;
  static void go_on_after_wait(Task& self) noexcept;
  static void leave_waiting(ult::Thread& thread, Task& self, Task& next) noexcept;
  static void leave_ready(ult::Thread& thread, Task& self, Task& next) noexcept;
  bool wakes_at_once(Task& self) noexcept;
  bool goes_on(Task& self) noexcept;
  bool watchful() const noexcept { return watchful_.load(std::memory_order_relaxed) != 0; }
  void watch_for(std::uint32_t reason) noexcept { watchful_.fetch_or(reason, std::memory_order_relaxed); }
  void watch_no_more_for(std::uint32_t reason) noexcept {
    watchful_.fetch_and(~reason, std::memory_order_relaxed);
  }
  bool watches_for(std::uint32_t reason) const noexcept {
    return (watchful_.load(std::memory_order_relaxed) & reason) != 0;
  }
  void count_marked(std::uint32_t change) noexcept {
    if (balancer_ == nullptr) watchful_.fetch_add(change, std::memory_order_relaxed);
  }
  bool take_mark(Task& task) noexcept;
  void note_sleepers() noexcept {
    if (sleepers_.empty()) watch_no_more_for(kSleeps);
  }
  void take_answers() noexcept;
  // It is watchful for no other reason, and its tasks are its own now.
  bool only_balances() const noexcept {
    return balancer_ != nullptr && watchful_.load(std::memory_order_relaxed) == kMoves && !opened_ &&
           urgent_ == nullptr && interrupted_.load(std::memory_order_relaxed) == nullptr;
  }
  void go_on_watchfully(Task& self) noexcept;
  void poll_at_switch() noexcept;
  bool poll_source() noexcept {
    looks_.store(looks_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return poll_();
  }
  // worker_moves.cpp; only with a balancer.
  bool movable(const Task& task) const noexcept;
  void balance() noexcept;
  void rotate() noexcept;
  void send_planned() noexcept;
  bool lone_where_tasks_move() noexcept;
  bool is_worth_opening(const Task& next) const noexcept;
  void open_for(const Task& next) noexcept;
  void close_opening() noexcept;
  bool finds_other_work() noexcept;
  Worker* fullest_open() const noexcept;
  bool steal() noexcept;
  void pass_invitation() noexcept;
  void receive(Task& task, Worker& from) noexcept;
  void welcome(Task& task) noexcept;
  void look_around() noexcept;
  void move_after_wait(Task& self) noexcept;
  bool deliver_left() const noexcept {
    const auto deliver = balancer_->hooks().deliver;
    return deliver == nullptr || deliver(index_);
  }
  void tell_moved(Task& task, const Worker& to) const noexcept {
    if (const auto moved = balancer_->hooks().moved) moved(task, to.index_);
  }
  Worker* next_open() const noexcept;
  void depart(Task& self, Worker& to) noexcept;
  void take_over(Task& task) noexcept;
  void send(Task& task, Worker& to) noexcept;
  void polled_in_vain() noexcept;
  void begin_idle() noexcept;
  void end_idle() noexcept;
  void follow_memory() noexcept;
  Task* idle() noexcept;
  using Counter = std::atomic<std::uint64_t>;
  void give_turn(Task& self, Counter& counter) noexcept;
  void before_switch(Task* from, Task& to, Counter& counter) noexcept;
  void switch_from(ult::Fiber& fiber, Task* from, Task& to) noexcept {
    switch_from(fiber, from, to, switches_);
  }
  void switch_from(ult::Fiber& fiber, Task* from, Task& to, Counter& counter) noexcept;
  [[noreturn]] void leave_for_good() noexcept;
  void report(Task* from, Task* to) noexcept {
    // acquire pairs with set_switch_hook(): what the hook needs has been set up.
    if (const SwitchHook hook = switch_hook_.load(std::memory_order_acquire)) [[unlikely]]
      hook(from, to);
  }

  // Used at every switch, by this thread only.
  ult::Thread thread_;
  Task* running_ = nullptr;
  Task* resume_next_ = nullptr;  // has handed off to the running task, and goes on after it
  std::atomic<SwitchHook> switch_hook_{nullptr};
  bool (*poll_)() noexcept = nullptr;  // the event source's
  const std::atomic<int>* expected_ = nullptr;
  std::uint64_t last_poll_ = 0;  // ticks
  bool progressed_ = false;      // the event source has made progress, or the worker has assisted another
  // What there is to look for at a switch beside the usual, as long as there is. Relaxed: who interrupts leaves a reason
  // to look.
  static constexpr std::uint32_t kMoves = 1;   // tasks move
  static constexpr std::uint32_t kFiles = 2;   // the kernel has calls on files to answer
  static constexpr std::uint32_t kSleeps = 4;  // tasks sleep
  static constexpr std::uint32_t kMarked =
      8;  // for each task that has been interrupted and has not dealt with it;
          // uncounted where tasks move: they take the mark along
  std::atomic<std::uint32_t> watchful_{0};
  DrainHook drain_hook_ = nullptr;
  std::uint32_t until_clock_ = kClockInterval;
  std::uint32_t yields_ = 0;
  std::uint32_t glances_ = 0;
  // Relaxed: written by this thread only, read as figures.
  Counter switches_{0};
  Counter polled_switches_{0};  // those of yield_polling()
  Counter looks_{0};            // at the event source
  // Relaxed: for the progress thread's judgement.
  std::atomic<bool> spins_{false}, sleeps_{false};
  bool opened_ = false;  // opening_ is open
  ReadyQueue ready_;
  Shared& shared_;
  ult::Fiber root_;  // the thread's own flow of control
  int index_;
  HelperPool helpers_;
  timers::CoreMeter meter_;
  Task* urgent_ = nullptr;  // blocked tasks that have been interrupted, by next_interrupted
  Sleepers sleepers_;
  // Written by this thread (residents_ and held_: by any), read as figures: relaxed.
  std::atomic<int> thread_id_{0};
  std::atomic<int> residents_{0};
  Counter came_{0};  // written by any thread, too
  std::atomic<std::uint64_t> held_{0};
  // Tasks for which interrupt() has been called, the latest first. release: who takes them sees why.
  std::atomic<Task*> interrupted_{nullptr};
  Patience patience_;
  AssistPoint assist_point_;
  // Of a job whose tasks move.
  Balancer* balancer_ = nullptr;
  std::uint64_t idle_since_ = 0;  // ticks
  std::uint64_t began_ = 0;       // ticks when the running task was last accounted
  bool looked_ = false;           // that was when it looked for a message
  std::uint64_t plan_seen_ = 0;   // Balancer::plan_number()
  int departing_ = 0;             // at most so many tasks here are to move elsewhere
  Task* leaving_ = nullptr;       // has switched to the root, which hands it over
  Worker* leaving_to_ = nullptr;
  std::atomic<bool> closed_{false};
  std::atomic<bool> idling_{false};
  bool owes_invitation_ = false;  // while it idles (opening.hpp)
  bool may_come_ = false;         // it is counted among the thieves
  std::unique_ptr<Attendant> attendant_;
  std::unique_ptr<FileRing> files_;  // made with the first call
  bool no_ring_ = false;             // it has been refused
  bool only_attended_ = false;       // no thread of a rank has been admitted, only the attendant
  unsigned misses_ = 0;
  // The task whose flow of control the worker is in, noted by that: who was left before it has been left. release: with
  // its context.
  std::atomic<const Task*> settled_{nullptr};
  Opening opening_;
  // Ticks of work in its inbox that it has opened with and nobody has taken: by itself while it is closed, by others under
  // opening_'s lock; relaxed, a hint.
  std::atomic<std::uint64_t> offered_{0};

  // Its inbox is written by other threads.
  Entrance entrance_;
};

/// The worker that the calling thread is, or whose inside it is in (a thread of a rank); null elsewhere. Out
/// of line and opaque, so that no compiler keeps the thread-local or its address across a switch.
Worker* this_worker() noexcept;

/// The calling thread is `worker` from now on, and `*running` is what runs on it; nulls: neither.
void set_this_thread(Worker* worker, Task** running) noexcept;

}  // namespace tmpi::sched
