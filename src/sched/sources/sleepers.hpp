// Sleepers: the tasks of a worker that wait for a time (sleep.hpp), the earliest first. Linked through the
// waiting tasks' own stacks: nothing is allocated. Used inside the worker only, but for earliest(); nothing suspends.
#pragma once

#include <atomic>
#include <cstdint>

#include "sched/task.hpp"

namespace tmpi::sched {

struct Sleeper {
  std::uint64_t deadline;  ///< ns of CLOCK_MONOTONIC
  Task* task;
  bool listed = false;       ///< nobody has made the task ready for this
  bool interrupted = false;  ///< the sleep has ended because of interrupt()
  Sleeper* next = nullptr;
  Sleeper* previous = nullptr;
};

class Sleepers {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  /// The first deadline; 0: there is none. Any thread.
  std::uint64_t earliest() const noexcept { return earliest_.load(std::memory_order_relaxed); }

  /// Behind all that are due no later. From the back: equal naps come in order.
  void add(Sleeper& sleeper) noexcept {
    Sleeper* before = last_;
    while (before != nullptr && before->deadline > sleeper.deadline) before = before->previous;
    sleeper.previous = before;
    sleeper.next = before != nullptr ? before->next : first_;
    (before != nullptr ? before->next : first_) = &sleeper;
    (sleeper.next != nullptr ? sleeper.next->previous : last_) = &sleeper;
    sleeper.listed = true;
    note();
  }
  void remove(Sleeper& sleeper) noexcept {
    (sleeper.previous != nullptr ? sleeper.previous->next : first_) = sleeper.next;
    (sleeper.next != nullptr ? sleeper.next->previous : last_) = sleeper.previous;
    sleeper.listed = false;
    note();
  }
  /// Takes out the first one if it is due at `now`, else null.
  Sleeper* due(std::uint64_t now) noexcept {
    Sleeper* const first = first_;
    if (first == nullptr || first->deadline > now) return nullptr;
    remove(*first);
    return first;
  }

 private:
  void note() noexcept {
    earliest_.store(first_ == nullptr ? 0 : first_->deadline, std::memory_order_relaxed);
  }

  std::atomic<std::uint64_t> earliest_{0};
  Sleeper* first_ = nullptr;
  Sleeper* last_ = nullptr;
};

}  // namespace tmpi::sched
