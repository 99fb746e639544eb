// Following: the memory of a task that has moved to a worker of another NUMA node, and stays there, is moved after it:
// its stack, and what the memory hook names. docs/design/load-balance.md, "Memory follows".
//
// Workers look from time to time, at a switch, where tasks are. One that runs with far memory loses some part of its
// time; when it has lost about as much as moving would cost, its memory is moved (the rule of renting skis until one has
// paid their price: never more than twice what would have been best). Who is to go elsewhere after its turn, as a task
// that has been taken by an idle worker, is not followed. It is the worker that has looked that moves the pages, some at
// each look, whether the task runs meanwhile or not: who computes all the time never comes by itself.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sched/hooks.hpp"
#include "sched/task.hpp"

namespace tmpi::sched {

class TaskTable;

/// Of all tasks together, at a look: the worker that looks does nothing else for some 0.3 ms.
inline constexpr std::size_t kMovedAtOnce = 256;

class Follower {
 public:
  /// `nodes`: of each worker its NUMA node.
  Follower(const TaskTable& tasks, std::vector<int> nodes, MoveMemory move) noexcept;

  /// Before any task runs.
  void set_hook(MemoryHook hook) noexcept { hook_ = hook; }

  /// At a switch of any worker, at time `now` (ticks). Mostly a comparison; when some milliseconds have passed, all tasks
  /// are looked at, and the answer is true: that may have taken long. Does not suspend.
  bool look(std::uint64_t now) noexcept {
    if (static_cast<std::int64_t>(now - next_.load(std::memory_order_relaxed)) < 0) [[likely]]
      return false;
    look_at_all(now);
    return true;
  }

 private:
  void look_at_all(std::uint64_t now) noexcept;
  void look_at(Task& task) noexcept;
  void move_some(Task& task, int node) noexcept;
  bool lost_enough(Task& task, int here) noexcept;

  const TaskTable& tasks_;
  const std::vector<int> nodes_;
  const MoveMemory move_;
  MemoryHook hook_ = nullptr;
  bool possible_ = true;
  std::uint64_t last_ = 0, elapsed_ = 0;  // ticks: the latest look, and how long after the one before
  std::size_t pages_ = 0;                 // that this look moves
  std::array<void*, kMovedAtOnce> page_;  // not on the stack of the task that the worker is just leaving
  std::array<int, kMovedAtOnce> page_node_;
  alignas(kCacheLine) std::atomic<std::uint64_t> next_{0};  // ticks; relaxed
  std::atomic<bool> looking_{false};  // acquire, release: guards what has no other guard, here and in tasks
};

}  // namespace tmpi::sched
