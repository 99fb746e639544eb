// Attendant: a thread that runs the helper fibers of a worker (helper.hpp) while the worker's own thread computes, so that
// what they do for their ranks, a nonblocking collective, takes its next step without any rank calling MPI. Where
// progress is made beside the workers (progress.hpp). docs/scheduling.md, "The progress thread".
//
// It is a thread inside the worker as those of ranks are (thread_task.hpp), but belongs to none: it parks as they do, at
// the inbox in place of the worker's own thread, and is woken by whatever is left there. It is made when a helper fiber
// suspends for the first time, which makes the worker's monitor count from then on. While there are no helper fibers
// it rests where nothing wakes it. All but stop() is called inside the worker.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "sched/eventcount.hpp"
#include "sched/thread_task.hpp"

namespace tmpi::sched {

class Attendant {
 public:
  explicit Attendant(Worker& worker) noexcept : worker_(worker) {}
  ~Attendant() { stop(); }
  Attendant(const Attendant&) = delete;

  /// A helper fiber of the worker has suspended, on the worker's own thread or on one of its ranks'. Without a thread
  /// to be had helper fibers go on at scheduling points, as they do without an attendant.
  void expect() noexcept;
  /// It is the calling thread.
  bool runs_here() const noexcept;
  /// The worker is left to user code, or to sleep: helper fibers that are ready are this thread's affair.
  void take_over() noexcept;
  /// When the worker's own thread has ended, or never begun. Any thread.
  void stop() noexcept;

 private:
  struct Host;
  void serve() noexcept;
  void rest() noexcept;
  void work() noexcept;

  Worker& worker_;
  ThreadTask* task_ = nullptr;  // its own
  pthread_t thread_{};
  bool made_ = false;
  bool dormant_ = false;
  int vain_ = 0;  // wake-ups with nothing to run
  Eventcount rest_;
  // release, acquire: who sees it has seen all that the thread has done. Slept at.
  std::atomic<std::uint32_t> ended_{0};
  std::atomic<bool> stopping_{false};
};

}  // namespace tmpi::sched
