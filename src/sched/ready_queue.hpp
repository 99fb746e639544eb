// ReadyQueue: a worker's ready tasks. First in, first out through the tasks' own links; any other order
// through a Policy. No lock: only the worker's thread uses it. A few instructions per operation; never
// suspends, never allocates.
#pragma once

#include <memory>
#include <utility>

#include "sched/policy.hpp"
#include "sched/task.hpp"

namespace tmpi::sched {

class ReadyQueue {
 public:
  /// Null: first in, first out. While empty.
  void use(std::unique_ptr<Policy> policy) noexcept { policy_ = std::move(policy); }

  void push(Task& task) noexcept {
    ++length_;
    if (policy_ != nullptr) [[unlikely]]
      return policy_->push(task);
    append(task);
  }
  void push_yielded(Task& task) noexcept {
    ++length_;
    if (policy_ != nullptr) [[unlikely]]
      return policy_->push_yielded(task);
    append(task);
  }
  Task* pop() noexcept {
    if (length_ == 0) return nullptr;
    --length_;
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
  Task* take(Wanted&& wanted) noexcept {
    Task* before = nullptr;
    for (Task* task = head_; task != nullptr; before = task, task = task->next) {
      if (!wanted(*task)) continue;
      (before == nullptr ? head_ : before->next) = task->next;
      if (tail_ == task) tail_ = before;
      --length_;
      return task;
    }
    return nullptr;
  }
  /// All for which `wanted(task)`, linked by `next`; null: none. Only first in, first out.
  template <class Wanted>
  Task* take_all(Wanted&& wanted) noexcept {
    Task* taken = nullptr;
    Task** last_taken = &taken;
    Task* before = nullptr;
    for (Task* task = head_; task != nullptr;) {
      Task* const after = task->next;
      if (wanted(*task)) {
        (before == nullptr ? head_ : before->next) = after;
        *last_taken = task;
        last_taken = &task->next;
        --length_;
      } else {
        before = task;
      }
      task = after;
    }
    *last_taken = nullptr;
    tail_ = before;
    return taken;
  }
  bool empty() const noexcept { return length_ == 0; }
  int length() const noexcept { return length_; }

 private:
  void append(Task& task) noexcept {
    task.next = nullptr;
    if (tail_ == nullptr) {
      head_ = &task;
    } else {
      tail_->next = &task;
    }
    tail_ = &task;
  }

  Task* head_ = nullptr;
  Task* tail_ = nullptr;
  int length_ = 0;
  std::unique_ptr<Policy> policy_;
};

}  // namespace tmpi::sched
