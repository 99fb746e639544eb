// tmpirun's part in --record and --replay: makes the file that node processes write into, and looks whether the one to be
// repeated fits the job.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "launch/options/options.hpp"

namespace tmpi::launch {

/// For a job of `nodes` node processes. Reductions are chosen so that both runs have the same bits (--coll). Failure: a file
/// cannot be read or written, or is of another number of ranks.
Result<void> prepare_record_and_replay(Settings& settings, int nodes);

/// Where the program is another one than was recorded.
std::vector<std::string> replay_warnings(const JobSpec& job);

}  // namespace tmpi::launch
