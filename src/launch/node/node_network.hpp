// The network between node processes, from the launcher's side: the transport is made, addresses are
// exchanged over the wire-up, the workers watch it. With one node process nothing of this is called, unless the job may
// be connected with others.
#pragma once

#include <string>

#include "base/result.hpp"
#include "launch/spec/node_spec.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::launch {

/// Makes the transport and publishes its address, and how many workers this node process may have. Before any rank runs.
Result<void> open_network(const JobSpec& job, const NodeSpec& node, int workers);
/// The job may be connected with others from now on. Before any rank runs; after open_network(), if the job has several
/// node processes.
Result<void> open_to_other_jobs(const JobSpec& job);
/// Waits for the others' addresses; from now on messages go both ways, and the workers look for them. The workers that all
/// node processes may have together; 0: there is one.
Result<int> join_network(const NodeSpec& node, sched::Scheduler& scheduler);
/// One line about the transport, for -v.
std::string describe_network();
/// When all ranks of this node process have ended: sends what is left. Blocks a few seconds at most.
void leave_network();

}  // namespace tmpi::launch
