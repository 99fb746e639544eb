// OverTime: what all cores together did over the job, from what each worker has recorded of itself.
#pragma once

#include "observe/profile.hpp"

namespace tmpi::report {

/// In seconds of all cores, in bins as wide as the widest of a worker. width 0: nothing was recorded.
observe::ProfiledBins cores_over_time(const observe::Profile& profile);

}  // namespace tmpi::report
