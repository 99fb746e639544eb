#include "launch/node/rank_signals.hpp"

#include "launch/node/crash_report.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/tool/events.hpp"
#include "privatize/rank_signals.hpp"
#include "sched/sleep.hpp"

namespace tmpi::launch {
namespace {

const sched::Task* task_of(int rank) noexcept {
  mpi::Rank* const local = mpi::job()->local(rank);
  return local == nullptr ? nullptr : local->task;
}

// In signal handlers.
void interrupt(int rank) noexcept {
  if (const sched::Task* task = task_of(rank)) sched::interrupt(const_cast<sched::Task&>(*task));
}
int thread_of(int rank) noexcept {
  const sched::Task* const task = task_of(rank);
  return task == nullptr ? 0 : sched::thread_of(*task);
}

void serve(sched::Task& task) noexcept {
  mpi::Rank& rank = *static_cast<mpi::Rank*>(task.owner);
  // Who has deferred them delivers them in user code: a handler may leave by longjmp.
  if (!privatize::signals_deferred(rank.world_rank)) privatize::deliver_signals(rank.world_rank);
  mpi::tool::deliver_events(rank);
}

}  // namespace

void register_signal_hooks(sched::Scheduler& scheduler) noexcept {
  scheduler.set_interrupt_hook(&serve);
  privatize::set_signal_hooks(
      {.interrupt = interrupt, .thread_of = thread_of, .is_stack_overflow = is_stack_overflow});
}

}  // namespace tmpi::launch
