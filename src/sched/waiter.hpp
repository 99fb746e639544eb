// Waiter: what a suspended fiber waits for. It lives on the waiting fiber's stack; completers on any thread
// count it down, and the one who brings it to zero makes the fiber ready. Design: docs/design/scheduling.md.
#pragma once

#include <atomic>

#include "base/platform.hpp"

namespace tmpi::sched {

struct Task;
class RunLoop;

class Waiter {
 public:
  /// A waiter of the calling task for `events` completions (Waitall: all of them; Waitany: 1).
  explicit Waiter(int events) noexcept;
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  /// Counts one completion. Any thread. Does not suspend. After the call the waiter may no longer exist.
  void complete() noexcept;

  /// All completions have come, and nobody else touches the waiter any more: wait() need not be called. Only where there
  /// are as many completers as events: not in a Waitany.
  bool over() const noexcept { return remaining_.load(std::memory_order_acquire) == 1; }

  /// A completion is coming: begins to fetch what it will write. Any thread, by whom complete() might be called.
  void fetch() const noexcept { fetch_for_writing(&remaining_); }

  /// Suspends the calling task until `events` completions have come; returns at once, and false, if they already have.
  /// SUSPENDS. Called once per Waiter.
  bool wait() noexcept;

  /// Waitany: after wait() has returned, `claimed` completers in all have taken hold of this waiter (their
  /// requests could not be detached); returns when each has finished with it, so that the waiter may go out
  /// of scope. Spins for nanoseconds.
  void drain(int claimed) noexcept;

  /// The task that waits.
  Task& task() const noexcept { return *task_; }

 private:
  Task* task_;
  /// The task's while it waits; here, so that a completer on another core need not fetch the Task to find it. Relaxed:
  /// with more completers than events one may come to zero before wait().
  std::atomic<RunLoop*> worker_;
  int events_;
  // events + 1: the extra one is the waiting task's own, given back by wait(). Whoever brings the count to
  // zero decides: a completer makes the task ready, wait() itself returns at once. acq_rel: who reaches zero
  // sees what all others wrote before their part.
  std::atomic<int> remaining_;
};

}  // namespace tmpi::sched
