#include "sched/waiter.hpp"

#include <sched.h>

#include "sched/worker.hpp"

namespace tmpi::sched {

Waiter::Waiter(int events) noexcept : task_(current()), events_(events), remaining_(events + 1) {}

inline bool Waiter::count_down() noexcept {
  if (single_worker()) {
    const int left = remaining_.load(std::memory_order_relaxed) - 1;
    remaining_.store(left, std::memory_order_relaxed);
    return left == 0;
  }
  return remaining_.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

void Waiter::complete_here() noexcept {
  // Read first: if others are still to come, the waiter may be gone right after the count.
  Task* const task = task_;
  if (count_down()) make_ready(*task);
}

void Waiter::complete() noexcept {
  if (single_worker() && this_worker() == nullptr) [[unlikely]] {
    task_->worker->complete_later(*this);
    return;
  }
  complete_here();
}

void Waiter::wait() noexcept {
  if (count_down()) return;
  // From here on a completer may make the task ready, though it still runs. No harm: only this worker, which
  // is busy leaving it, can resume it; at worst block() finds the task itself to be the next one.
  task_->worker->block();
}

void Waiter::drain(int claimed) noexcept {
  // acquire pairs with the completers' decrement, their last touch.
  for (int spins = 0; remaining_.load(std::memory_order_acquire) != events_ - claimed; ++spins) {
    if (single_worker()) task_->worker->take_mail();
    if (spins < 200) {
      cpu_relax();
    } else {
      sched_yield();
    }
  }
}

}  // namespace tmpi::sched
