// Watches for the moment when no rank can ever go on. With one node process that is found out here; with
// several this node process tells tmpirun when it is quiescent, and answers its questions (quiescence_rounds.hpp).
#pragma once

#include <string>

#include "sched/scheduler.hpp"

namespace tmpi::launch {

/// Before the scheduler runs. Ranks that all wait end the job at once; of ranks that only poll there is a warning after
/// `polling_limit` seconds, unless `no_warnings`, and they end it after six times as long.
void watch_for_deadlock(sched::Scheduler& scheduler, bool several_nodes, int polling_limit, bool no_warnings);

/// What kDone carries: this node process's balance of messages.
std::string final_balance();

/// Ranks are about to run that have not run before, or what a rank waits for is there (docs/design/dynamic-processes.md): what
/// tmpirun was told of all being blocked is over. Any thread.
void end_quiescence();

}  // namespace tmpi::launch
