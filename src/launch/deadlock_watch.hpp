// When all workers sleep and nothing can wake them, the job ends with a picture and, if there is one, the
// cycle of ranks that wait for each other (mpi/diagnose/deadlock.hpp). --no-deadlock-check leaves it blocked.
#pragma once

#include "sched/scheduler.hpp"

namespace tmpi::launch {

/// Before the job runs.
void watch_for_deadlock(sched::Scheduler& scheduler);

}  // namespace tmpi::launch
