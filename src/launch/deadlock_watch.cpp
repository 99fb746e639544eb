#include "launch/deadlock_watch.hpp"

#include <fmt/core.h>

#include "launch/control.hpp"
#include "launch/node_job.hpp"
#include "launch/program_path.hpp"
#include "mpi/diagnose/deadlock.hpp"

namespace tmpi::launch {
namespace {

// On a worker's thread, while all workers sleep (sched::StallHook).
void on_stall() noexcept {
  const NodeJob* job = NodeJob::running();
  if (job == nullptr || !mpi::deadlocked()) return;
  Control::instance()->end_job(
      EndKind::kDeadlock, -1, kExitDeadlock,
      fmt::format(
          "deadlock: every rank that has not finished is blocked in MPI, and no message is on its way\n{}{}"
          "the job has been ended (--no-deadlock-check leaves it blocked, for a debugger)",
          describe(job->picture(true)), mpi::explain_deadlock()));
}

}  // namespace

void watch_for_deadlock(sched::Scheduler& scheduler) {
  scheduler.set_stall_hook(&on_stall);
}

}  // namespace tmpi::launch
