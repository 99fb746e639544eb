// From the recording of a node process to its profile.
#pragma once

#include "observe/call_sites.hpp"
#include "observe/profile.hpp"
#include "observe/recording.hpp"

namespace tmpi::observe {

/// What the node process is, for headings.
struct JobDescription {
  int node = 0;         ///< its number
  std::string program;  ///< names of the programs, joined
  std::string host;
  std::vector<std::string> workers;  ///< "worker 0: core 3 (PU 6), NUMA node 0"
  int cores_per_worker = 1;          ///< --cpus-per-rank
  bool oversubscribed = false;       ///< workers share cores
  bool ended_early = false;          ///< aborted, crashed, timed out, interrupted
};

/// `sites` receives the call sites. The recording has been stopped.
Profile collect_profile(const Recording& recording, const JobDescription& job, CallSites& sites);

}  // namespace tmpi::observe
