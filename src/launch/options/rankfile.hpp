// A file that says where each rank runs, as Open MPI has it (--rankfile):
//
//     rank 0=alpha slot=2        core 2 there, by hwloc's logical numbers, which --report-bindings shows
//     rank 1=+n1 slot=1:0        core 0 of socket 1 on the second host of --host or --hostfile
//
// Without slots, which either all have or none, only the hosts are chosen.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "launch/options/hosts.hpp"
#include "launch/spec/job_spec.hpp"

namespace tmpi::launch {

struct ChosenPlace {
  std::string host;  ///< or "+nK": the host with number K
  RankCore core;
};

/// By rank. Failure: the line and what is wrong with it; a rank without a line; slots of several cores.
Result<std::vector<ChosenPlace>> parse_rankfile(std::string_view text);

/// Failure: also that the file cannot be read.
Result<std::vector<ChosenPlace>> read_rankfile(const std::string& path);

/// The numbers of the hosts, by rank. Without `hosts` and `nodes` (--nodes: node processes here, known as +nK) the hosts
/// are those that the file names, and are put into `hosts`. Failure: a host that is not among them.
Result<std::vector<int>> resolve_hosts(const std::vector<ChosenPlace>& places, std::vector<HostSlots>& hosts,
                                       int nodes);

}  // namespace tmpi::launch
