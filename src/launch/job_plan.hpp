// JobPlan: how many node processes a job has, where and how each is started, and which ranks it runs.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "launch/options.hpp"

namespace tmpi::launch {

/// How one node process is started.
struct NodePlan {
  std::string host;                  ///< as the user named it; what this machine calls itself if nobody did
  bool remote = false;               ///< `command` is a remote shell, not the node process itself
  std::vector<std::string> command;  ///< path and arguments
};

struct JobPlan {
  std::vector<NodePlan> nodes;
  std::vector<int> node_of;  ///< by world rank
  std::string executable;    ///< the path of tmpi-node here
  int size() const { return static_cast<int>(nodes.size()); }
  bool any_remote() const;
};

/// `executable`: the path of tmpi-node here. Failure: no remote shell.
Result<JobPlan> plan_job(const Settings& settings, const std::string& executable);

}  // namespace tmpi::launch
