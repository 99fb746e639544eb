// Connected jobs: the node process's part in connections with other jobs (docs/design/dynamic-processes.md, "Between jobs"): makes its
// way to their node processes when tmpirun says so, and ends this job if one that it is connected with ends in the middle.
#pragma once

#include <string>

#include "launch/spec/node_spec.hpp"
#include "launch/wire/frames.hpp"

namespace tmpi::launch {

/// Of this node process. Before the first frame.
void prepare_connected_jobs(const NodeSpec& node);

/// kWayPrepare, kWayJoin and kWayEnd. The control thread; returns at once.
void on_way_frame(const Frame& frame);

/// A node process of another job does not answer any more. Any thread.
void report_lost_job(int node, const std::string& why) noexcept;

}  // namespace tmpi::launch
