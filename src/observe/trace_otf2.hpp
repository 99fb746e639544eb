// The trace as an OTF2 archive, which Vampir, Scalasca, Cube and otf2-print read: a location for each rank and each worker,
// regions with the lines of their calls, messages, collectives, communicators. docs/reference/profiling.md.
#pragma once

#include <string>

#include "base/result.hpp"
#include "observe/job_trace.hpp"

namespace tmpi::observe {

/// Whether this is the name of an archive: it ends with ".otf2". RUN.otf2 is its anchor; RUN.def and the folder RUN lie
/// beside it.
inline bool names_otf2(const std::string& path) {
  return path.ends_with(".otf2");
}

/// Failure sentences: OTF2 is not installed, tmpi was built without it, there is an archive of this name.
Result<void> can_write_otf2(const std::string& path);

/// After can_write_otf2(). Failure: OTF2's own words.
Result<void> write_trace_otf2(const std::string& path, const JobTrace& trace);

}  // namespace tmpi::observe
