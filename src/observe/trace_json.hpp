// The trace as a file in Chrome's trace-event format (JSON), for Perfetto and chrome://tracing: a track for
// each worker with a slice per stretch of a rank's run, a track for each rank with its MPI calls, arrows for
// messages, counters. Written event by event: the document never lies in memory. docs/reference/profiling.md.
#pragma once

#include <cstdio>

#include "base/result.hpp"
#include "observe/job_trace.hpp"

namespace tmpi::observe {

/// Writes to `file`, which stays open.
Result<void> write_trace_json(std::FILE* file, const JobTrace& trace);

}  // namespace tmpi::observe
