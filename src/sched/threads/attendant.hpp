// Attendant: a thread that runs the helper fibers of a worker (helper.hpp) while the worker's own thread computes, so that
// what they do for their ranks, a nonblocking collective, takes its next step without any rank calling MPI. Where
// progress is made beside the workers (progress.hpp). docs/design/scheduling.md, "The progress thread".
//
// It is a thread inside the worker as those of ranks are (thread_task.hpp), but belongs to none: it parks as they do, at
// the inbox in place of the worker's own thread, and is woken by whatever is left there. It is made when a helper fiber
// suspends for the first time, which makes the worker's monitor count from then on. While there are no helper fibers
// it rests where nothing wakes it. All but stop() is called inside the worker.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "sched/door/door.hpp"
#include "sched/door/eventcount.hpp"
#include "sched/door/rank_thread.hpp"
#include "sched/thread_task.hpp"

namespace tmpi::sched {

class Worker;

class Attendant final : public Attending {
 public:
  explicit Attendant(Worker& worker) noexcept : worker_(worker) {}
  ~Attendant() override { stop(); }
  Attendant(const Attendant&) = delete;

  /// A helper fiber of the worker has suspended, on the worker's own thread or on one of its ranks'. Without a thread
  /// to be had helper fibers go on at scheduling points, as they do without an attendant.
  void expect() noexcept override TMPI_REQUIRES(inside_worker);
  /// It is the calling thread.
  bool runs_here() const noexcept override;
  /// The worker is left to user code, or to sleep: helper fibers that are ready are this thread's affair.
  void take_over() noexcept override TMPI_REQUIRES(inside_worker);
  /// When the worker's own thread has ended, or never begun. Any thread.
  void stop() noexcept override;

 private:
  struct Host;
  void admit() noexcept TMPI_REQUIRES(inside_worker);
  void serve() noexcept;
  void rest() noexcept TMPI_REQUIRES(inside_worker);
  void work() noexcept TMPI_REQUIRES(inside_worker);

  Worker& worker_;
  ThreadTask* task_ TMPI_GUARDED_BY(inside_worker) = nullptr;  // its own
  pthread_t thread_{};
  bool made_ = false;
  bool dormant_ TMPI_GUARDED_BY(inside_worker) = false;
  int vain_ TMPI_GUARDED_BY(inside_worker) = 0;  // wake-ups with nothing to run
  Eventcount rest_;
  // release, acquire: who sees it has seen all that the thread has done. Slept at.
  std::atomic<std::uint32_t> ended_{0};
  std::atomic<bool> stopping_{false};
};

}  // namespace tmpi::sched
