// ReadyQueue: a worker's ready tasks. First in, first out through the tasks' own links; any other order
// through a Policy. No lock: only the worker's thread uses it, but for length(). A few instructions per operation; never
// suspends, never allocates.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "sched/door/role.hpp"
#include "sched/loop/policy.hpp"
#include "sched/task.hpp"

namespace tmpi::sched {

class ReadyQueue {
 public:
  /// Null: first in, first out. While empty.
  void use(std::unique_ptr<Policy> policy) noexcept { policy_ = std::move(policy); }

  /// So many more tasks may be ready at a time. False: no memory.
  [[nodiscard]] bool reserve(int more) noexcept { return policy_ == nullptr || policy_->reserve(more); }

  void push(Task& task) noexcept TMPI_REQUIRES(inside_worker) {
    change_length(1);
    if (policy_ != nullptr) [[unlikely]]
      return policy_->push(task);
    append(task);
  }
  void push_yielded(Task& task) noexcept TMPI_REQUIRES(inside_worker) {
    change_length(1);
    if (policy_ != nullptr) [[unlikely]]
      return policy_->push_yielded(task);
    append(task);
  }
  Task* pop() noexcept TMPI_REQUIRES(inside_worker) {
    if (empty()) return nullptr;
    change_length(-1);
    if (policy_ != nullptr) [[unlikely]]
      return policy_->pop();
    Task* task = head_;
    head_ = task->next;
    if (head_ == nullptr) tail_ = nullptr;
    return task;
  }
  /// Takes out the first task for which `wanted(task)`, asked in the order in which they would run, null: none. Only
  /// first in, first out.
  template <class Wanted>
  Task* take(Wanted&& wanted) noexcept TMPI_REQUIRES(inside_worker) {
    Task* before = nullptr;
    for (Task* task = head_; task != nullptr; before = task, task = task->next) {
      if (!wanted(*task)) continue;
      (before == nullptr ? head_ : before->next) = task->next;
      if (tail_ == task) tail_ = before;
      change_length(-1);
      return task;
    }
    return nullptr;
  }
  /// No policy has another order.
  bool fifo() const noexcept { return policy_ == nullptr; }
  /// Only first in, first out.
  template <class Body>
  void for_each(Body&& body) const noexcept TMPI_REQUIRES(inside_worker) {
    for (Task* task = head_; task != nullptr; task = task->next) body(*task);
  }
  /// All for which `wanted(task)`, linked by `next`; null: none. Only first in, first out.
  template <class Wanted>
  Task* take_all(Wanted&& wanted) noexcept TMPI_REQUIRES(inside_worker) {
    Task* taken = nullptr;
    Task** last_taken = &taken;
    Task* before = nullptr;
    for (Task* task = head_; task != nullptr;) {
      Task* const after = task->next;
      if (wanted(*task)) {
        (before == nullptr ? head_ : before->next) = after;
        *last_taken = task;
        last_taken = &task->next;
        change_length(-1);
      } else {
        before = task;
      }
      task = after;
    }
    *last_taken = nullptr;
    tail_ = before;
    return taken;
  }
  bool empty() const noexcept { return length() == 0; }
  /// Any thread: a recent number.
  int length() const noexcept { return length_.load(std::memory_order_relaxed); }

 private:
  void change_length(int by) noexcept { length_.store(length() + by, std::memory_order_relaxed); }
  void append(Task& task) noexcept TMPI_REQUIRES(inside_worker) {
    task.next = nullptr;
    if (tail_ == nullptr) {
      head_ = &task;
    } else {
      tail_->next = &task;
    }
    tail_ = &task;
  }

  Task* head_ TMPI_GUARDED_BY(inside_worker) = nullptr;
  Task* tail_ TMPI_GUARDED_BY(inside_worker) = nullptr;
  std::atomic<int> length_{0};  // relaxed: written by the worker's thread only
  std::unique_ptr<Policy> policy_;
};

}  // namespace tmpi::sched
