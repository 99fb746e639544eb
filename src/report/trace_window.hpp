// TraceWindow: of a trace (tmpirun --trace) the events in the middle of the job, as many as a page can hold.
#pragma once

#include <cstddef>
#include <string>

namespace tmpi::report {

/// A trace of its own, as JSON; empty if there is no such file, or none of ours. Reads it twice, line by line: it may be
/// large.
std::string trace_window(const std::string& path, std::size_t most_events = 6000);

}  // namespace tmpi::report
