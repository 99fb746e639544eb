// Interrupts: the tasks of a worker for which interrupt() has been called (sleep.hpp). Those that wait go on before all that
// are ready, beside the ready queue: what they wait for may put them there at the same time.
#pragma once

#include <atomic>

#include "sched/loop/run_loop.hpp"
#include "sched/sources/source.hpp"

namespace tmpi::sched {

class Interrupts final : public Source {
 public:
  explicit Interrupts(RunLoop& loop) noexcept
      : Source(~(Reasons::kFiles | Reasons::kSleeps), Cost::kMemory), loop_(loop) {}

  /// Any thread, also in a signal handler.
  void interrupt(Task& task) noexcept;

  // Inside.
  bool look() noexcept override TMPI_REQUIRES(inside_worker);
  /// There may be one that waits and goes on now.
  bool any() const noexcept TMPI_REQUIRES(inside_worker) { return urgent_ != nullptr; }
  /// Takes it; null: there was none.
  Task* pop() noexcept TMPI_REQUIRES(inside_worker) { return urgent_ == nullptr ? nullptr : pop_urgent(); }
  /// There is one.
  bool has_one() noexcept TMPI_REQUIRES(inside_worker);
  /// Nothing has come since the last look. A hint.
  bool empty() const noexcept TMPI_REQUIRES(inside_worker) {
    return urgent_ == nullptr && interrupted_.load(std::memory_order_relaxed) == nullptr;
  }

 private:
  Task* pop_urgent() noexcept TMPI_REQUIRES(inside_worker);

  RunLoop& loop_;
  Task* urgent_ TMPI_GUARDED_BY(inside_worker) =
      nullptr;  // blocked tasks that have been interrupted, by next_interrupted
  // Tasks for which interrupt() has been called, the latest first. release: who takes them sees why.
  std::atomic<Task*> interrupted_{nullptr};
};

}  // namespace tmpi::sched
