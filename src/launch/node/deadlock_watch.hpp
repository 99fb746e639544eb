// Watches for the moment when no rank can ever go on. With one node process that is found out here; with
// several this node process tells tmpirun when it is quiescent, and answers its questions (quiescence_rounds.hpp).
#pragma once

#include <string>

#include "sched/scheduler.hpp"

namespace tmpi::launch {

/// Before the scheduler runs. Ranks that all wait end the job; ranks that only poll are worth a warning, unless
/// `quiet`.
void watch_for_deadlock(sched::Scheduler& scheduler, bool several_nodes, bool quiet);

/// What kDone carries: this node process's balance of messages.
std::string final_balance();

}  // namespace tmpi::launch
