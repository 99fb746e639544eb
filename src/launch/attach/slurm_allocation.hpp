// SlurmAllocation: the nodes that Slurm has given to the job in whose shell or script tmpirun runs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace tmpi::launch {

struct SlurmAllocation {
  struct Node {
    std::string name;
    int slots = 1;
  };
  std::string job;  ///< its number
  std::vector<Node> nodes;
};

using Environment = std::map<std::string, std::string>;

/// Whether tmpirun has to ask Slurm to start its node processes: it runs in an allocation, which is more than
/// the node it runs on.
bool slurm_is_needed(const Environment& environment);

/// A count per node as Slurm writes it, "2(x3),1", as a list: 2, 2, 2, 1; empty if it is none.
std::vector<int> expand_counts(const std::string& text);

/// The allocation that the environment describes. Slots: the tasks that the user has asked for on each node,
/// or, if he has asked for none, its processors. Runs `scontrol show hostnames`, which knows all forms of
/// lists of hosts.
Result<SlurmAllocation> read_allocation(const Environment& environment);

}  // namespace tmpi::launch
