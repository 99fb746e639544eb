#include "sched/waiter.hpp"

#include <sched.h>

#include "sched/worker.hpp"

namespace tmpi::sched {

Waiter::Waiter(int events) noexcept
    : task_(current()), worker_(task_->worker), events_(events), remaining_(events + 1) {}

inline bool Waiter::count_down() noexcept {
  if (single_worker()) {
    const int left = remaining_.load(std::memory_order_relaxed) - 1;
    remaining_.store(left, std::memory_order_relaxed);
    return left == 0;
  }
  return remaining_.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

void Waiter::complete_on(Worker* here) noexcept {
  // Who is not the last must not touch the waiter again. For the last it stays: the task cannot go on before
  // it is made ready.
  if (count_down()) worker_->make_ready(*task_, here);
}

void Waiter::complete() noexcept {
  Worker* const here = this_worker();
  if (single_worker() && here == nullptr) [[unlikely]] {
    worker_->complete_later(*this);
    return;
  }
  complete_on(here);
}

void Waiter::wait() noexcept {
  if (count_down()) return;
  // From here on a completer may make the task ready, though it still runs. No harm: only this worker, which
  // is busy leaving it, can resume it; at worst block() finds the task itself to be the next one.
  worker_->block();
}

void Waiter::drain(int claimed) noexcept {
  // acquire pairs with the completers' decrement, their last touch.
  for (int spins = 0; remaining_.load(std::memory_order_acquire) != events_ - claimed; ++spins) {
    if (single_worker()) worker_->take_mail();
    if (spins < 200) {
      cpu_relax();
    } else {
      sched_yield();
    }
  }
}

}  // namespace tmpi::sched
