// Reasons: why each switch of a worker has to look at more than inbox and ready queue, as long as it is so. Any thread;
// relaxed: who interrupts a task leaves something in the inbox, too.
#pragma once

#include <atomic>
#include <cstdint>

#include "sched/task.hpp"

namespace tmpi::sched {

class Reasons {
 public:
  static constexpr std::uint32_t kMoves = 1;   // tasks move
  static constexpr std::uint32_t kFiles = 2;   // the kernel has calls on files to answer
  static constexpr std::uint32_t kSleeps = 4;  // tasks sleep
  static constexpr std::uint32_t kMarked =
      8;  // so often as there are tasks that have been interrupted and have not
          // dealt with it; uncounted where tasks move: they take the mark along

  std::uint32_t now() const noexcept { return word_.load(std::memory_order_relaxed); }
  bool any() const noexcept { return now() != 0; }
  void give(std::uint32_t reason) noexcept { word_.fetch_or(reason, std::memory_order_relaxed); }
  void end(std::uint32_t reason) noexcept { word_.fetch_and(~reason, std::memory_order_relaxed); }

  /// Before any task runs.
  void let_tasks_move() noexcept { tasks_move_ = true, give(kMoves); }
  bool tasks_move() const noexcept { return tasks_move_; }

  void count_marked(std::uint32_t change) noexcept {
    if (!tasks_move_) word_.fetch_add(change, std::memory_order_relaxed);
  }
  /// What has interrupted the task is dealt with from here on; false: nothing has since. acquire (of seq_cst) pairs with
  /// Interrupts::interrupt(): the hook sees why.
  bool take_mark(Task& task) noexcept {
    if (!task.interrupted.exchange(false, std::memory_order_seq_cst)) return false;
    count_marked(-kMarked);
    return true;
  }

 private:
  std::atomic<std::uint32_t> word_{0};
  bool tasks_move_ = false;
};

}  // namespace tmpi::sched
