// Worker: one OS thread that runs tasks, as a whole: a RunLoop, and what is beside it, each on its own: who may be inside
// (Door), what it looks at when it has nothing to run (Idling, and the sources that it has registered there), how its
// tasks move (Mover). Internal to sched; the rest of tmpi uses task.hpp, waiter.hpp and scheduler.hpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "sched/files/file_source.hpp"
#include "sched/loop/helper_pool.hpp"
#include "sched/loop/run_loop.hpp"
#include "sched/mover/mover.hpp"
#include "sched/sources/event_sources.hpp"
#include "sched/sources/idling.hpp"
#include "sched/sources/poll_watch.hpp"
#include "sched/sources/stall.hpp"

namespace tmpi::sched {

class Worker;

/// What all workers of a process share.
struct Shared : LoopShared {
  std::uint64_t spin_ticks = 0;  ///< 0: they do not spin
  std::size_t stack_size = 0;    ///< of helper fibers, as of all tasks
  bool exec_stacks = false;
  std::vector<RunLoop*> loops;  ///< the workers'
  StallWatch stall{loops};
  InterruptHook interrupt_hook = nullptr;
  PollWatch polls{loops};
  Thieves thieves;
  std::vector<Mover*> movers;          ///< the workers', or nobody's
  std::unique_ptr<Balancer> balancer;  ///< null: tasks stay where they are
  std::vector<std::unique_ptr<Worker>> workers;
};

class Worker final : public RunLoop {
 public:
  Worker(Shared& shared, int index) noexcept;
  ~Worker();

  // Set-up, before the worker's thread runs.
  void set_event_source(const EventSource& source) noexcept;
  void set_drain_hook(DrainHook hook) noexcept;
  /// Its tasks move.
  void have_mover(Balancer& balancer);

  // Any thread.
  Mover* mover() noexcept { return mover_.get(); }  ///< null: tasks stay
  Idling& idling() noexcept { return idling_; }
  NetworkSource& network() noexcept { return network_; }
  PollWatch& polls() noexcept { return polls_; }  ///< of the process
  /// ns for which ready tasks have waited for one that holds the worker.
  std::uint64_t held() const noexcept { return held_.load(std::memory_order_relaxed); }
  void add_held(std::uint64_t nanoseconds) noexcept {
    held_.fetch_add(nanoseconds, std::memory_order_relaxed);
  }

  // Inside.
  FileSource& files() noexcept { return files_; }
  HelperPool& helpers() noexcept { return helpers_; }
  /// Back to user code, or to sleep.
  void leave() noexcept TMPI_REQUIRES(inside_worker) { door().leave(idling_); }
  /// Threads are about to be let in: no task comes or goes from now on.
  void close() noexcept TMPI_REQUIRES(inside_worker) {
    if (mover_ != nullptr) mover_->close();
  }
  /// They are, by its own thread, which is `inside` or in user code.
  void admit(bool inside) noexcept TMPI_REQUIRES(inside_worker);
  /// Suspends the calling task until its time has come; false: until interrupted.
  bool sleep_until(Task& self, std::uint64_t deadline) noexcept TMPI_REQUIRES(inside_worker);
  /// Whether a task is ready, after a look at what other workers have left.
  bool anyone_ready() noexcept TMPI_REQUIRES(inside_worker);
  /// The task is this worker's until its next scheduling point.
  bool owns(const Task& task) const noexcept TMPI_REQUIRES(inside_worker) {
    return !diverted() && task.worker == this;
  }
  /// Helper fibers may have suspended.
  void attend() noexcept TMPI_REQUIRES(inside_worker) {
    if (door().attendant() != nullptr && helpers_.busy() > 0) [[unlikely]]
      door().attendant()->expect();
  }
  /// A helper fiber is ready that another thread than its own may run, since that is in user code; null: there is none.
  bool has_ready_helper() noexcept TMPI_REQUIRES(inside_worker);
  HelperFiber* take_ready_helper() noexcept TMPI_REQUIRES(inside_worker);

 private:
  Task* next_of_all() noexcept override TMPI_REQUIRES(inside_worker);
  Task* idle() noexcept override TMPI_REQUIRES(inside_worker);
  Task* look_for_another() noexcept override TMPI_REQUIRES(inside_worker);
  void look_outside() noexcept override TMPI_REQUIRES(inside_worker) { network_.look(); }
  bool lone_though_watchful() noexcept override TMPI_REQUIRES(inside_worker);
  bool wakes_at_once(Task& self) noexcept override TMPI_REQUIRES(inside_worker);
  bool goes_on(Task& self) noexcept override TMPI_REQUIRES(inside_worker);
  void resumed(Task& self) noexcept override TMPI_REQUIRES(inside_worker);
  void make_ready_specially(Task& task) noexcept override TMPI_REQUIRES(inside_worker);
  void left_in_inbox() noexcept override { mover_->invite(); }
  void begins(Task& task) noexcept override TMPI_REQUIRES(inside_worker);
  bool root_goes_on() noexcept override TMPI_REQUIRES(inside_worker);
  void ended() noexcept override;
  void list_sources() noexcept;
  Task* pop_next() noexcept TMPI_REQUIRES(inside_worker);
  bool interrupted(Task& self) noexcept TMPI_REQUIRES(inside_worker);

  Idling idling_;
  Arrivals arrivals_;
  FileSource files_;
  ChannelSource channels_;
  NetworkSource network_;
  std::unique_ptr<Mover> mover_;
  HelperPool helpers_;
  PollWatch& polls_;
  const InterruptHook& interrupt_hook_;
  std::atomic<std::uint64_t> held_{0};  // relaxed: a figure
};

/// The worker that the calling thread is, or whose inside it is in (a thread of a rank); null elsewhere.
inline Worker* this_worker() noexcept {
  return static_cast<Worker*>(this_loop());  // there are no other loops
}
/// Null: the task is nobody's yet.
inline Worker* worker_of(const Task& task) noexcept {
  return static_cast<Worker*>(static_cast<RunLoop*>(task.worker));
}

}  // namespace tmpi::sched
