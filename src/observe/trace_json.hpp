// The trace as a file in Chrome's trace-event format (JSON), for Perfetto and chrome://tracing: a track for
// each worker with a slice per stretch of a rank's run, a track for each rank with its MPI calls, arrows for
// messages, counters. Written event by event: the document never lies in memory. docs/reference/profiling.md.
#pragma once

#include <cstdint>
#include <cstdio>

#include "base/result.hpp"
#include "observe/profile_collect.hpp"

namespace tmpi::observe {

struct TraceSummary {
  std::uint64_t events = 0;                   ///< slices in the file
  std::uint64_t messages = 0;                 ///< arrows
  std::uint64_t dropped = 0;                  ///< events that found no room in a worker's buffer
  std::uint64_t unpaired = 0;                 ///< sends or receives whose other end is not there
  std::uint64_t bytes_per_worker_needed = 0;  ///< --trace-buffer with which nothing would have been dropped
};

/// Writes to `file`, which stays open. The recording has been stopped.
Result<TraceSummary> write_trace(std::FILE* file, const Recording& recording, const JobDescription& job,
                                 CallSites& sites);

}  // namespace tmpi::observe
