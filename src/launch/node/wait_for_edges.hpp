// Wait-for edges on the wire: who waits for whom, from all node processes to the one that words the deadlock
// report.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "launch/wire/stacks.hpp"
#include "launch/wire/state_dump.hpp"
#include "mpi/diagnose/deadlock.hpp"

namespace tmpi::launch {

/// What one node process contributes.
struct NodeWaitForEdges {
  StateDump dump;
  Stacks stacks;
  mpi::WaitForEdges edges;
};

std::string pack(const NodeWaitForEdges& all);
Result<NodeWaitForEdges> unpack_wait_for_edges(std::string_view payload);

}  // namespace tmpi::launch
