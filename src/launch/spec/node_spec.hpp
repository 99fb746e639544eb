// NodeSpec: what one node process is told of its place in the job, beside the JobSpec that all get.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "launch/spec/job_spec.hpp"
#include "net/secret.hpp"

namespace tmpi::launch {

struct NodeSpec {
  int node = 0;                                 ///< number of this node process
  std::vector<std::string> hosts{"localhost"};  ///< by number: the machine each node process runs on
  std::vector<int> node_of;                     ///< by world rank; empty: all on node process 0
  int share = 0;             ///< this is number `share` of the `sharers` node processes on its machine,
  int sharers = 1;           ///< which divide the cores
  bool same_machine = true;  ///< all node processes are on one machine, and see the same network there
  int universe = 0;          ///< ranks that the user's slots have room for, in all; 0: nobody has said
  int launcher = 0;          ///< tmpirun's process, whose descendant this one is; 0: it is not
  std::uint64_t job = 0;     ///< the same in all node processes of a job, different between jobs
  std::uint64_t ports = 0;   ///< the number of the job's ports: by it other jobs of the user know this one
  net::Secret secret;        ///< authenticates the connections between node processes

  // For a node process on another machine than tmpirun.
  bool remote = false;
  std::string directory;                 ///< tmpirun's own, where ranks start without --wdir
  std::vector<std::string> environment;  ///< tmpirun's: "NAME=value"

  int nodes() const { return static_cast<int>(hosts.size()); }
  /// The lowest rank of this node process.
  int first_rank() const {
    return static_cast<int>(std::find(node_of.begin(), node_of.end(), node) - node_of.begin()) %
           std::max(static_cast<int>(node_of.size()), 1);
  }
  int node_of_rank(int rank) const { return node_of.empty() ? 0 : node_of[static_cast<std::size_t>(rank)]; }
};

/// What a kJob frame carries.
struct Assignment {
  JobSpec job;
  NodeSpec node;
};

std::string pack(const Assignment& assignment);
Result<Assignment> unpack_assignment(std::string_view payload);

}  // namespace tmpi::launch
