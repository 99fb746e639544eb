// From the recording of a node process to its part of the trace.
#pragma once

#include <functional>
#include <string_view>

#include "observe/call_sites.hpp"
#include "observe/profile_collect.hpp"
#include "observe/recording.hpp"

namespace tmpi::observe {

/// Gives the part (trace.hpp) to `take`, piece by piece, so that it never lies in memory beside the recording. `sites`
/// receives the call sites. The recording has been stopped.
void collect_trace(const Recording& recording, const JobDescription& job, CallSites& sites,
                   const std::function<void(std::string_view piece)>& take);

}  // namespace tmpi::observe
