// Helper fibers: work that a rank has started and that goes on without it, as the algorithms of nonblocking
// collectives do. A helper fiber is a task of its own on the rank's worker, with the rank as its owner, so
// what it runs is ordinary blocking code; it is suspended where it waits, and goes on whenever any task of
// the worker reaches a scheduling point. Helper fibers are pooled per worker, never counted as unfinished
// tasks (a worker whose tasks have finished leaves them behind), and not part of Scheduler::tasks(). Their
// stacks are as large as those of ranks, since a user's functions run on them, and committed as far as they
// are touched.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

#include "sched/task.hpp"
#include "ult/stack_arena.hpp"

namespace tmpi::sched {

/// Runs `work(argument)` on a helper fiber of the calling task's owner, at once: control comes back to the
/// caller when the helper fiber suspends for the first time or has finished, without anybody else running in
/// between. False: there is no address space for another stack; nothing has been run. Called by a task (a
/// helper fiber is one) only. About 2 switches. The caller is not suspended in the sense of scheduling
/// points: no other rank runs.
[[nodiscard]] bool run_helper(void (*work)(void*), void* argument) noexcept;

/// What the calling helper fiber does from here on belongs on its worker's own thread (`stays`), since it calls the
/// user's functions, whose thread-locals are there; or may be done by another one while that thread computes
/// (attendant.hpp), as when it has begun. May SUSPEND.
void stay_on_worker(bool stays) noexcept;

/// The task of a helper fiber; when it has done its work it waits in the pool for the next.
struct HelperFiber : Task {
  HelperFiber() noexcept { moving = &stationary; }

  Moving stationary;  ///< it never moves, but comes through the same inbox
  void (*work)(void*) = nullptr;
  void* work_argument = nullptr;
  HelperFiber* next_idle = nullptr;
  bool stays = false;  ///< stay_on_worker()
};

/// The helper fibers of one worker. Used by the worker's thread only, except where noted.
class HelperPool {
 public:
  HelperPool(Worker& worker, std::size_t stack_size, bool exec_stacks) noexcept
      : worker_(worker), stack_size_(stack_size), exec_stacks_(exec_stacks) {}
  ~HelperPool();

  /// An idle helper fiber; null if there is no memory. Allocates only if more are busy than ever before.
  HelperFiber* take() noexcept {
    if (idle_ == nullptr && !grow()) return nullptr;
    HelperFiber* helper = idle_;
    idle_ = helper->next_idle;
    ++busy_;
    return helper;
  }
  void give_back(HelperFiber& helper) noexcept {
    helper.next_idle = idle_;
    idle_ = &helper;
    --busy_;
  }
  /// Taken and not given back.
  int busy() const noexcept { return busy_; }

  /// The helper fiber whose guard page holds `address`, or null. Any thread; async-signal-safe.
  const HelperFiber* guard_page_owner(const void* address) const noexcept;
  /// Helper fibers made so far, busy or idle. Any thread.
  int made() const noexcept;

 private:
  struct Chunk {
    std::unique_ptr<ult::StackArena> stacks;
    std::unique_ptr<HelperFiber[]> helpers;
  };
  // Chunk i has kFirst << i helper fibers, so that there are few mappings, whatever their number.
  static constexpr int kFirst = 4;
  static constexpr std::size_t kMostChunks = 24;

  bool grow() noexcept;

  HelperFiber* idle_ = nullptr;
  int busy_ = 0;
  Worker& worker_;
  const std::size_t stack_size_;
  const bool exec_stacks_;
  std::array<std::atomic<Chunk*>, kMostChunks> chunks_{};  // filled from the front, never emptied
};

}  // namespace tmpi::sched
