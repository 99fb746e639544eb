// JobTrace: the parts of all node processes on one clock, with the messages between them.
//
// Node processes of one machine have one clock. Others are aligned by the machines' own clocks first (some milliseconds
// where NTP runs), then by the messages themselves, as NTP does it: of two machines that have sent to each other, the
// fastest message in either direction took equally long. What drifts apart during the job is not corrected.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "observe/messages.hpp"
#include "observe/trace.hpp"

namespace tmpi::observe {

/// What the user is to know of what is written.
struct TraceSummary {
  std::uint64_t events = 0;                   ///< slices: runs and calls
  std::uint64_t dropped = 0;                  ///< events that found no room in a worker's buffer
  std::uint64_t bytes_per_worker_needed = 0;  ///< --trace-buffer with which nothing would have been dropped
};

struct JobTrace {
  std::vector<TracePart> parts;      ///< at least one
  std::vector<std::int64_t> shifts;  ///< by part: nanoseconds to be added to its times; the earliest is at 0
  TracedMessages messages;
  TraceSummary summary;

  std::uint64_t at(std::size_t part, std::uint64_t time) const {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(time) + shifts[part]);
  }
  std::uint64_t sent(const TracedMessage& message) const { return at(message.sent_in, message.sent); }
  /// Never before it was sent.
  std::uint64_t received(const TracedMessage& message) const;
  /// What MPI_Wtime() said at time 0, in the first part.
  double origin() const { return parts.front().origin - static_cast<double>(shifts.front()) * 1e-9; }
  std::string program() const { return parts.front().program; }
};

JobTrace join_trace(std::vector<TracePart> parts);

/// How a trace names the communicator that a message or a call with this context belongs to.
std::string communicator_name(std::uint64_t context);

}  // namespace tmpi::observe
