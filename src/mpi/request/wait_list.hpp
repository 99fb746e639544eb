// WaitList: who waits for the same, a flow of control asleep or a continuation that a nonblocking operation has left
// behind.
#pragma once

#include "mpi/request/continuation.hpp"
#include "sched/waiter.hpp"

namespace tmpi::mpi {

/// Whoever waits; in one list at a time.
struct WaitEntry {
  WaitEntry* next = nullptr;
  sched::Waiter* waiter = nullptr;  ///< of a flow of control; null: a WaitingContinuation
};

/// A flow of control that sleeps; lies on its stack.
struct WaitingFlow : WaitEntry {
  sched::Waiter own{1};
  WaitingFlow() noexcept { waiter = &own; }
};

/// What is left behind instead of a flow of control that sleeps.
class WaitingContinuation : public WaitEntry, public Continuation {
 protected:
  ~WaitingContinuation() = default;
};

/// First come, first served, so that a fifo scheduler keeps the ranks' order. Touched by one worker only, or
/// guarded by a lock.
class WaitList {
 public:
  void push(WaitEntry& entry) noexcept {
    entry.next = nullptr;
    (last_ != nullptr ? last_->next : first_) = &entry;
    last_ = &entry;
  }
  bool empty() const noexcept { return first_ == nullptr; }
  /// All of `others`, behind those that are here.
  void take(WaitList& others) noexcept {
    if (others.empty()) return;
    (last_ != nullptr ? last_->next : first_) = others.first_;
    last_ = others.last_;
    others.first_ = others.last_ = nullptr;
  }
  /// Lets all go on; an entry may be gone as soon as it goes on, the list may be used again at once.
  void resume_all() noexcept {
    WaitEntry* entry = first_;
    first_ = last_ = nullptr;
    while (entry != nullptr) {
      WaitEntry* next = entry->next;
      if (entry->waiter != nullptr) [[likely]] {
        entry->waiter->complete();
      } else {
        static_cast<WaitingContinuation*>(entry)->proceed();
      }
      entry = next;
    }
  }

  /// Waits until resume_all() (true: it is over), or leaves `continuation` to be resumed (false). `unlock()`
  /// is called when the entry is in the list. SUSPENDS without a continuation.
  template <class Unlock>
  bool wait(WaitingContinuation* continuation, Unlock&& unlock) {
    if (continuation != nullptr) [[unlikely]] {
      push(*continuation);
      unlock();
      return false;
    }
    WaitingFlow flow;
    push(flow);
    unlock();
    flow.own.wait();
    return true;
  }
  bool wait(WaitingContinuation* continuation) {
    return wait(continuation, [] {});
  }

 private:
  WaitEntry* first_ = nullptr;
  WaitEntry* last_ = nullptr;
};

}  // namespace tmpi::mpi
