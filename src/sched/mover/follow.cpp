#include "sched/mover/follow.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "base/numa.hpp"
#include "base/platform.hpp"
#include "sched/loop/run_loop.hpp"
#include "sched/loop/task_table.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {
namespace {

constexpr double kBetweenLooks = 2e-3;      // s
constexpr double kMostBetween = 8e-3;       // s: who runs at two looks need not have run all the time between
constexpr double kShortest = 5e-3;          // s that a task has run elsewhere, at least
constexpr double kSecondsPerByte = 0.3e-9;  // to move it: a page in a little more than 1 us
constexpr double kLoss = 0.1;  // of the time that a task runs with far memory (assignment.cpp: kFarMemory)

std::uintptr_t address(const void* pointer) noexcept {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

template <class Use>
void for_all_memory(const Task& task, MemoryHook hook, Use&& use) noexcept {
  if (task.stack.base != nullptr)
    use(task.stack.base, task.stack.size);  // what was never touched costs a look at its page table entry
  if (hook == nullptr) return;
  const UseMemory pass_on = [](void* context, void* begin, std::size_t bytes) noexcept {
    (*static_cast<std::remove_reference_t<Use>*>(context))(begin, bytes);
  };
  hook(task, pass_on, &use);
}

}  // namespace

bool move_by_kernel(std::span<void*> pages, std::span<const int> nodes) noexcept {
  std::array<int, kMovedAtOnce> status;
  return numa::move_pages(pages, nodes, status);
}

Follower::Follower(const TaskTable& tasks, std::vector<int> nodes, MoveMemory move) noexcept
    : tasks_(tasks), nodes_(std::move(nodes)), move_(move) {}

void Follower::look_at_all(std::uint64_t now) noexcept {
  static const std::uint64_t between = timers::ticks(kBetweenLooks), most = timers::ticks(kMostBetween);
  if (looking_.exchange(true, std::memory_order_acquire)) return;
  next_.store(now + between, std::memory_order_relaxed);
  elapsed_ = std::min(now - std::exchange(last_, now), most);
  pages_ = 0;
  for (int id = 0; id < tasks_.capacity() && possible_; ++id) look_at(tasks_.at(id));
  if (pages_ > 0) possible_ = move_(std::span(page_).first(pages_), std::span(page_node_).first(pages_));
  looking_.store(false, std::memory_order_release);
}

void Follower::look_at(Task& task) noexcept {
  const RunLoop* const worker = task.worker;
  const TaskState state = task.get_state();
  if (worker == nullptr || state == TaskState::kInit || state == TaskState::kFinished) return;
  Moving& moving = *task.moving;
  const int here = nodes_[static_cast<std::size_t>(worker->index())];
  int memory = moving.memory_node.load(std::memory_order_relaxed);
  if (memory < 0) {
    memory = nodes_[task.home];  // where it began
    moving.memory_node.store(memory, std::memory_order_relaxed);
  }
  if (here == memory) {
    moving.came_to = -1;
    if (moving.passes_left > 0) move_some(task, here);
  } else if (moving.target.load(std::memory_order_relaxed) >= 0) {
    moving.came_to = -1;  // it does not stay: it has been taken for a turn, or a plan wants it elsewhere
  } else if (lost_enough(task, here)) {
    moving.came_to = -1;
    moving.memory_node.store(here, std::memory_order_relaxed);
    moving.passes_left = 2;  // the kernel leaves pages that somebody is just using
    moving.bytes_done = 0;
    move_some(task, here);
  }
}

// What the task has allocated or freed since the last look shifts what comes behind it: that is met by the second pass.
void Follower::move_some(Task& task, int node) noexcept {
  Moving& moving = *task.moving;
  std::size_t skip = moving.bytes_done;
  bool all = true;
  for_all_memory(task, hook_, [&](void* begin, std::size_t bytes) noexcept {
    const std::size_t done = std::min(skip, bytes);
    skip -= done;
    const std::size_t now = std::min(bytes - done, (kMovedAtOnce - pages_) * kPageSize);
    all = all && done + now == bytes;
    const std::uintptr_t first = (address(begin) + done) & ~std::uintptr_t{kPageSize - 1};
    for (std::size_t at = 0; at < now; at += kPageSize, ++pages_) {
      page_[pages_] = reinterpret_cast<void*>(first + at);
      page_node_[pages_] = node;
    }
    moving.bytes_done += now;
  });
  if (!all) return;
  --moving.passes_left;
  moving.bytes_done = 0;
}

bool Follower::lost_enough(Task& task, int here) noexcept {
  static const std::uint64_t shortest = timers::ticks(kShortest);
  Moving& moving = *task.moving;
  const std::uint64_t spent = moving.spent.load(std::memory_order_relaxed);
  const std::uint64_t used = spent - std::exchange(moving.seen_spent, spent);
  if (std::exchange(moving.came_to, here) != here) {
    moving.far_time = 0;
    moving.unaccounted = 0;
    moving.follow_after = 0;
    return false;
  }
  moving.far_time += used;
  // Who runs on and on has not been accounted for; when it is, `used` holds that, too.
  const bool runs_on = used == 0 && task.get_state() == TaskState::kRunning;
  moving.unaccounted = runs_on ? moving.unaccounted + elapsed_ : 0;
  const std::uint64_t far = moving.far_time + moving.unaccounted;
  if (far < shortest) return false;
  if (moving.follow_after == 0) {
    std::size_t sum = 0;
    for_all_memory(task, hook_, [&](void*, std::size_t bytes) noexcept { sum += bytes; });
    moving.follow_after =
        std::max(shortest, timers::ticks(static_cast<double>(sum) * kSecondsPerByte / kLoss));
  }
  return far >= moving.follow_after;
}

}  // namespace tmpi::sched
