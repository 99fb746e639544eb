// Services: work that a rank has started and that goes on without it: nonblocking collectives, communicators
// in the making. A service is a task of its own on the rank's worker, with the rank as its owner, so what it
// runs is ordinary blocking code; it is suspended where it waits and progresses whenever any task of the
// worker reaches a scheduling point. Services are pooled per worker, never counted as unfinished tasks (a
// worker whose tasks have finished leaves them behind), and not part of Scheduler::tasks(). Stacks are as
// large as those of ranks, since a user's functions run on them, and committed as far as they are touched.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

#include "sched/task.hpp"
#include "ult/stack_arena.hpp"

namespace tmpi::sched {

/// Runs `work(argument)` as a service of the calling task's owner, at once: control comes back to the caller
/// when the service suspends for the first time or has finished, without anybody else running in between.
/// False: there is no address space for another stack; nothing has been run. Called by a task (or service)
/// only. About 2 switches. The caller is not suspended in the sense of scheduling points: no other rank runs.
[[nodiscard]] bool run_service(void (*work)(void*), void* argument) noexcept;

/// A service's task; when it has done its work it waits in the pool for the next.
struct Service : Task {
  void (*work)(void*) = nullptr;
  void* work_argument = nullptr;
  Service* next_idle = nullptr;
};

/// The services of one worker. Used by the worker's thread only, except where noted.
class ServicePool {
 public:
  ServicePool(Worker& worker, std::size_t stack_size, bool exec_stacks) noexcept
      : worker_(worker), stack_size_(stack_size), exec_stacks_(exec_stacks) {}
  ~ServicePool();

  /// An idle service; null if there is no memory. Allocates only if more are busy than ever before.
  Service* take() noexcept {
    if (idle_ == nullptr && !grow()) return nullptr;
    Service* service = idle_;
    idle_ = service->next_idle;
    return service;
  }
  void give_back(Service& service) noexcept {
    service.next_idle = idle_;
    idle_ = &service;
  }

  /// The service whose guard page holds `address`, or null. Any thread; async-signal-safe.
  const Service* guard_page_owner(const void* address) const noexcept;
  /// Services made so far, busy or idle. Any thread.
  int made() const noexcept;

 private:
  struct Chunk {
    std::unique_ptr<ult::StackArena> stacks;
    std::unique_ptr<Service[]> services;
  };
  // Chunk i has kFirst << i services, so that there are few mappings, whatever their number.
  static constexpr int kFirst = 4;
  static constexpr std::size_t kMostChunks = 24;

  bool grow() noexcept;

  Service* idle_ = nullptr;
  Worker& worker_;
  const std::size_t stack_size_;
  const bool exec_stacks_;
  std::array<std::atomic<Chunk*>, kMostChunks> chunks_{};  // filled from the front, never emptied
};

}  // namespace tmpi::sched
