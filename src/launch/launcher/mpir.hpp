// The MPIR process acquisition interface (MPI Forum, "The MPIR Process Acquisition Interface", version 1.1): debuggers
// (TotalView, DDT, STAT) find by names in tmpirun's symbol table which process runs which rank, in a job that they start
// or that they attach to. Ranks of a node process are entries with the same process id.
#pragma once

#include <string>

#include "launch/launcher/node_set.hpp"
#include "launch/plan/job_plan.hpp"
#include "launch/spec/job_spec.hpp"

namespace tmpi::launch::mpir {

/// A debugger has started tmpirun, or has attached itself to it and said so.
bool being_debugged() noexcept;

/// All node processes have said hello: fills in the table, by rank, and lets a debugger look at it. Ranks do not run
/// before it lets tmpirun go on. Once.
void publish(const JobPlan& plan, const NodeSet& nodes, const JobSpec& job);

/// The job ends before its ranks do.
void aborting(const std::string& why);

}  // namespace tmpi::launch::mpir
