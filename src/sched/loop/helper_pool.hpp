// Helper fibers (helper.hpp) of one worker: tasks in a pool.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

#include "sched/loop/run_loop.hpp"
#include "sched/task.hpp"
#include "ult/stack_arena.hpp"

namespace tmpi::sched {

class HelperPool;

/// The task of a helper fiber; when it has done its work it waits in the pool for the next.
struct HelperFiber : Task {
  HelperFiber() noexcept { moving = &stationary; }

  Moving stationary;  ///< it never moves, but comes through the same inbox
  void (*work)(void*) = nullptr;
  void* work_argument = nullptr;
  HelperFiber* next_idle = nullptr;
  bool stays = false;  ///< stay_on_worker()
  HelperPool* pool = nullptr;
};

/// The helper fibers of one worker. Used by the worker's thread only, except where noted.
class HelperPool {
 public:
  HelperPool(RunLoop& worker, std::size_t stack_size, bool exec_stacks) noexcept
      : worker_(worker), stack_size_(stack_size), exec_stacks_(exec_stacks) {}
  ~HelperPool();

  /// An idle helper fiber; null if there is no memory. Allocates only if more are busy than ever before.
  HelperFiber* take() noexcept TMPI_REQUIRES(inside_worker) {
    if (idle_ == nullptr && !grow()) return nullptr;
    HelperFiber* helper = idle_;
    idle_ = helper->next_idle;
    ++busy_;
    return helper;
  }
  void give_back(HelperFiber& helper) noexcept TMPI_REQUIRES(inside_worker) {
    helper.next_idle = idle_;
    idle_ = &helper;
    --busy_;
  }
  /// Taken and not given back.
  int busy() const noexcept TMPI_REQUIRES(inside_worker) { return busy_; }

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

  bool grow() noexcept TMPI_REQUIRES(inside_worker);

  HelperFiber* idle_ TMPI_GUARDED_BY(inside_worker) = nullptr;
  int busy_ TMPI_GUARDED_BY(inside_worker) = 0;
  RunLoop& worker_;
  const std::size_t stack_size_;
  const bool exec_stacks_;
  std::array<std::atomic<Chunk*>, kMostChunks> chunks_{};  // filled from the front, never emptied
};

}  // namespace tmpi::sched
