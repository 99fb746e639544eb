// Several node processes on one machine divide its cores.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "launch/spec/job_spec.hpp"

namespace tmpi::launch {

struct CoreShare {
  int cores = 1;        ///< for this node process
  int all = 1;          ///< for all node processes of this machine
  bool shared = false;  ///< others use them too: waiting workers had better sleep than spin
};

/// The `share`-th of `sharers` parts of the cores that the calling thread may use. With `bind` its affinity
/// mask, which new threads inherit, is narrowed to them. With more node processes than cores each gets one,
/// and they take turns.
CoreShare take_cores(int share, int sharers, bool bind);

/// The cores that the user has chosen for the ranks here (--rankfile), by hwloc's logical numbers; with `bind` the
/// affinity mask is narrowed to them. Failure: the calling thread may not use one of them; begins with "has no".
Result<std::vector<int>> take_chosen_cores(const std::vector<RankCore>& chosen, bool bind);

}  // namespace tmpi::launch
