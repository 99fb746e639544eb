// TaskTable: the tasks of a scheduler and their stacks, in batches: those announced to create(), and those that have
// been added since. A batch never moves and lives as long as the table. Batches are added by one thread at a time; a
// task is found by any thread, also in a signal handler, without a lock.
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include "base/result.hpp"
#include "sched/task.hpp"
#include "ult/stack_arena.hpp"

namespace tmpi::sched {

class TaskTable {
 public:
  static constexpr int kMostBatches = 1024;

  TaskTable() = default;
  ~TaskTable();
  TaskTable(const TaskTable&) = delete;
  TaskTable& operator=(const TaskTable&) = delete;

  /// Memory for `stacks.count` more tasks, whose ids follow the last. Failure sentences: those of StackArena; too many
  /// batches.
  Result<void> add(const ult::StackOptions& stacks);
  /// The tasks, and those that are added from now on, may change their worker. Before any runs.
  void let_move();
  int capacity() const noexcept;

  /// 0 <= id < capacity().
  Task& at(int id) const noexcept;
  ult::Stack stack_of(int id) const noexcept;
  /// Null: none of these tasks'.
  const Task* guard_page_owner(const void* address) const noexcept;
  std::size_t stack_high_water(const Task& task) const noexcept;
  /// Bytes per stack of the first batch.
  std::size_t stack_size() const noexcept;

 private:
  struct Batch {
    int first;
    int count;
    std::unique_ptr<Task[]> tasks;
    std::unique_ptr<Moving[]> moving;  // null: they stay
    std::unique_ptr<ult::StackArena> stacks;
  };
  static void let_move(Batch& batch);
  const Batch& batch_of(int id) const noexcept;
  int batches() const noexcept { return count_.load(std::memory_order_acquire); }

  bool moves_ = false;
  std::array<std::atomic<Batch*>, kMostBatches> batches_{};  // relaxed: count_ publishes
  std::atomic<int> count_{0};                                // release: the batches before are complete
};

}  // namespace tmpi::sched
