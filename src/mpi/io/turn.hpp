// Turn: one flow of control at a time, first come, first served; who waits is suspended.
#pragma once

#include <mutex>

#include "base/spinlock.hpp"
#include "sched/waiter.hpp"

namespace tmpi::mpi {

class Turn {
 public:
  /// SUSPENDS while it is another one's.
  void take() {
    sched::Waiter waiter(1);
    Waiting self{&waiter};
    {
      const std::lock_guard guard(lock_);
      if (taken_) {
        (last_ != nullptr ? last_->next : first_) = &self;
        last_ = &self;
      } else {
        taken_ = true;
        waiter.complete();
      }
    }
    waiter.wait();
  }
  void give() noexcept {
    const std::lock_guard guard(lock_);
    Waiting* const next = first_;
    if (next == nullptr) {
      taken_ = false;
      return;
    }
    first_ = next->next;
    if (first_ == nullptr) last_ = nullptr;
    next->waiter->complete();
  }

 private:
  struct Waiting {
    sched::Waiter* waiter;
    Waiting* next = nullptr;
  };
  SpinLock lock_;
  bool taken_ = false;
  Waiting* first_ = nullptr;
  Waiting* last_ = nullptr;
};

}  // namespace tmpi::mpi
