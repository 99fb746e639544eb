// Policy: in which order a worker runs its ready tasks. fifo needs none of this (ready_queue.hpp has it
// inline); the others are here to find programs that depend on the order. Used by one worker's thread only;
// never suspends.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "sched/task.hpp"

namespace tmpi::sched {

class Policy {
 public:
  virtual ~Policy() = default;
  /// Adds a task that has become ready.
  virtual void push(Task& task) noexcept = 0;
  /// Adds a task that gives way: the others that are ready now must get their turn before it does for ever.
  virtual void push_yielded(Task& task) noexcept = 0;
  /// Takes the task to run next, null if there is none.
  virtual Task* pop() noexcept = 0;
  virtual bool empty() const noexcept = 0;
  /// So many more tasks may be ready at a time than it was made for; push() does not allocate. False: no memory.
  [[nodiscard]] virtual bool reserve(int more) noexcept = 0;
};

/// "fifo" (a null pointer: the ready queue's own order), "lifo" or "random:SEED" for worker `worker` with at
/// most `tasks` tasks.
Result<std::unique_ptr<Policy>> make_policy(const std::string& name, int worker, int tasks);

}  // namespace tmpi::sched
