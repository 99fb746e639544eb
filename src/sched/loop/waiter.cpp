#include "sched/waiter.hpp"

#include <sched.h>

#include "base/spinlock.hpp"
#include "sched/loop/run_loop.hpp"

namespace tmpi::sched {

Waiter::Waiter(int events) noexcept
    : task_(current()), worker_(task_->worker), events_(events), remaining_(events + 1) {}

void Waiter::complete() noexcept {
  // Who is not the last must not touch the waiter again. For the last it stays: the task cannot go on before
  // it is made ready.
  if (remaining_.fetch_sub(1, std::memory_order_acq_rel) == 1)
    worker_.load(std::memory_order_relaxed)->make_ready(*task_, this_loop());
}

bool Waiter::wait() noexcept {
  // It may have moved since; from here on it stays until it has been made ready. The decrement publishes it.
  RunLoop* const worker = task_->worker;
  worker_.store(worker, std::memory_order_relaxed);
  if (remaining_.fetch_sub(1, std::memory_order_acq_rel) == 1) return false;
  // From here on a completer may make the task ready, though it still runs. No harm: only this worker, which
  // is busy leaving it, can resume it; at worst block() finds the task itself to be the next one.
  inside_worker.assume();
  worker->block(*task_);
  return true;
}

void Waiter::drain(int claimed) noexcept {
  // acquire pairs with the completers' decrement, their last touch.
  for (int spins = 0; remaining_.load(std::memory_order_acquire) != events_ - claimed; ++spins) {
    if (spins < 200) {
      cpu_relax();
    } else {
      sched_yield();
    }
  }
}

}  // namespace tmpi::sched
