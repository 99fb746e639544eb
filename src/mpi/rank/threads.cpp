#include "mpi/rank/threads.hpp"

#include "mpi/rank/callbacks.hpp"
#include "mpi/rank/forked.hpp"
#include "sched/move.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::mpi {
namespace {

Rank* rank_of_thread() noexcept {
  if (in_forked_child()) return nullptr;
  return callbacks().rank_of_thread != nullptr ? callbacks().rank_of_thread() : nullptr;
}

}  // namespace

Rank* calling_rank() noexcept {
  const sched::Task* task = sched::current();
  return task != nullptr ? static_cast<Rank*>(task->owner) : rank_of_thread();
}

sched::Task* detail::thread_flow() noexcept {
  const Rank* rank = rank_of_thread();
  if (rank == nullptr || rank->phase != Phase::kInitialized || rank->thread_level < MPI_THREAD_SERIALIZED)
    return nullptr;
  return &sched::thread_task(*rank->task);
}

sched::Task* calling_tool_flow() noexcept {
  if (sched::Task* const flow = calling_flow()) return flow;
  const Rank* const rank = rank_of_thread();
  return rank != nullptr && rank->tools_in_threads ? &sched::thread_task(*rank->task) : nullptr;
}

bool is_main_flow() noexcept {
  const sched::Task* task = sched::current();
  return task != nullptr && task->kind != sched::TaskKind::kThread;
}

void thread_created(Rank& rank) noexcept {
  // Its threads know each other by the kernel's threads they run on, and come into its worker. The first one is made by
  // its own flow.
  if (!rank.has_threads.exchange(true, std::memory_order_relaxed)) sched::anchor(*rank.task);
  if (rank.phase == Phase::kInitialized || rank.tools_in_threads) admit_threads(rank);
}

void admit_threads(Rank& rank) noexcept {
  if (rank.has_threads.load(std::memory_order_relaxed) &&
      (rank.thread_level >= MPI_THREAD_SERIALIZED || rank.tools_in_threads))
    sched::scheduler()->admit_threads();
}

// In this order: who sees that threads are let in finds a worker that expects them.
void admit_tools(Rank& rank) noexcept {
  if (rank.has_threads.load(std::memory_order_relaxed)) sched::scheduler()->admit_threads();
  rank.tools_in_threads = true;
}

}  // namespace tmpi::mpi
