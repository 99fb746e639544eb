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

bool is_main_flow() noexcept {
  const sched::Task* task = sched::current();
  return task != nullptr && task->kind != sched::TaskKind::kThread;
}

void thread_created(Rank& rank) noexcept {
  // Its threads know each other by the kernel's threads they run on, and come into its worker. The first one is made by
  // its own flow.
  if (!rank.has_threads.exchange(true, std::memory_order_relaxed)) sched::anchor(*rank.task);
  if (rank.phase == Phase::kInitialized) admit_threads(rank);
}

void admit_threads(Rank& rank) noexcept {
  if (rank.has_threads.load(std::memory_order_relaxed) && rank.thread_level >= MPI_THREAD_SERIALIZED)
    sched::scheduler()->admit_threads();
}

}  // namespace tmpi::mpi
