// Time and performance counters from the points of view of the process and of the core: mpix.h.
#include "mpi/api/profiled.hpp"
#include "mpi/base/check.hpp"
#include "mpi/rank/call.hpp"
#include "mpi/rank/counters.hpp"
#include "sched/metering.hpp"
#include "timers/clock.hpp"

namespace tmpi::mpi {
namespace {

using timers::now_ticks;

/// The calling rank's task, from its MPI_Init on, with metering on; null before, and in threads that the rank
/// has created. (The clocks' functions return no error code, and such a call is harmless.)
sched::Task* metered_task() noexcept {
  sched::Task* task = sched::current();
  if (task == nullptr) return nullptr;
  const Rank& rank = *static_cast<const Rank*>(task->owner);
  if (rank.task != task || rank.phase == Phase::kBeforeInit) return nullptr;
  sched::ensure_metering();
  return task;
}

/// Counters belong to the thread that runs the rank.
Err check_own_flow(const Rank& rank) {
  if (sched::current() == rank.task) return kOk;
  return fail(MPI_ERR_OTHER,
              "called by a thread that the rank has created: counters are those of the rank's own flow of "
              "control, which must open and read them");
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

double PMPIX_Rtime(void) {
  tmpi::sched::Task* task = metered_task();
  if (task == nullptr) return 0;
  const Rank& rank = *static_cast<const Rank*>(task->owner);
  if (rank.phase == Phase::kFinalized) return rank.ran;
  return tmpi::timers::seconds(task->meter.clock.read(now_ticks()));
}
TMPI_PROFILED(MPIX_Rtime);

void PMPIX_Start_processor_timer(void) {
  tmpi::sched::Task* task = metered_task();
  if (task == nullptr || task->meter.section.active()) return;
  tmpi::timers::CoreMeter& core = tmpi::sched::core_meter();
  if (core.counters.any_open()) core.counters.enter_section();
  core.clock.start(task->meter.section, now_ticks());
}
TMPI_PROFILED(MPIX_Start_processor_timer);

void PMPIX_Stop_processor_timer(void) {
  tmpi::sched::Task* task = metered_task();
  if (task == nullptr || !task->meter.section.active()) return;
  tmpi::timers::CoreMeter& core = tmpi::sched::core_meter();
  core.clock.stop(task->meter.section, now_ticks());
  if (core.counters.any_open()) core.counters.leave_section();
}
TMPI_PROFILED(MPIX_Stop_processor_timer);

double PMPIX_Ptime(void) {
  tmpi::sched::Task* task = metered_task();
  if (task == nullptr) return 0;
  return tmpi::timers::seconds(tmpi::sched::core_meter().clock.read(task->meter.section, now_ticks()));
}
TMPI_PROFILED(MPIX_Ptime);

int PMPIX_Counter_open(const char* name, MPIX_Counter* counter) {
  return on_rank("MPIX_Counter_open", [&](Rank& rank) -> Err {
    TMPI_TRY(check_own_flow(rank));
    TMPI_TRY(check_pointer(counter, "counter"));
    *counter = MPIX_COUNTER_NULL;
    TMPI_TRY(check_pointer(name, "name"));
    return Counters::of(rank).open(rank, name, *counter);
  });
}
TMPI_PROFILED(MPIX_Counter_open);

int PMPIX_Rcounter(MPIX_Counter counter, MPI_Count* value) {
  return on_rank("MPIX_Rcounter", [&](Rank& rank) -> Err {
    TMPI_TRY(check_own_flow(rank));
    TMPI_TRY(check_pointer(value, "value"));
    return Counters::of(rank).read_process(counter, *value);
  });
}
TMPI_PROFILED(MPIX_Rcounter);

int PMPIX_Pcounter(MPIX_Counter counter, MPI_Count* value) {
  return on_rank("MPIX_Pcounter", [&](Rank& rank) -> Err {
    TMPI_TRY(check_own_flow(rank));
    TMPI_TRY(check_pointer(value, "value"));
    return Counters::of(rank).read_core(rank, counter, *value);
  });
}
TMPI_PROFILED(MPIX_Pcounter);

int PMPIX_Counter_close(MPIX_Counter* counter) {
  return on_rank("MPIX_Counter_close", [&](Rank& rank) -> Err {
    TMPI_TRY(check_own_flow(rank));
    TMPI_TRY(check_pointer(counter, "counter"));
    TMPI_TRY(Counters::of(rank).close(rank, *counter));
    *counter = MPIX_COUNTER_NULL;
    return kOk;
  });
}
TMPI_PROFILED(MPIX_Counter_close);
