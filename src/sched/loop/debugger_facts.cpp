// Where a task is, for debuggers.
#include "base/debugger_fact.hpp"
#include "sched/loop/run_loop.hpp"
#include "sched/task.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace tmpi::sched {

struct FactsOfTasks {
  static constexpr DebuggerFacts<14> all() {
    return {{
        TMPI_OFFSET(Task, worker),
        TMPI_OFFSET(Task, state),
        TMPI_OFFSET(Task, context),
        TMPI_OFFSET(Task, stack),
        TMPI_OFFSET(Task, call),
        TMPI_OFFSET(Task, note),
        TMPI_OFFSET(RunLoop, running_),
        TMPI_OFFSET(RunLoop, thread_id_),
        TMPI_VALUE(TaskState::kInit),
        TMPI_VALUE(TaskState::kRunning),
        TMPI_VALUE(TaskState::kReady),
        TMPI_VALUE(TaskState::kBlocked),
        TMPI_VALUE(TaskState::kFinished),
    }};
  }
};

}  // namespace tmpi::sched

TMPI_FOR_DEBUGGERS constexpr auto tmpi_facts_of_tasks = tmpi::sched::FactsOfTasks::all();

#pragma GCC diagnostic pop
