// A node process's part of a trace, as it travels to tmpirun, and all parts of a job together. Times in nanoseconds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "observe/event.hpp"
#include "observe/message_tally.hpp"

namespace tmpi::observe {

/// The events of one worker, oldest first; or of the threads that are none, with the calls that ranks were in at the end.
/// Times of events since the part's first; `address` is the number of a call site.
struct TraceTrack {
  std::string name;  ///< of the worker
  std::span<const Event> events;
  std::uint64_t dropped = 0;         ///< events that found no room
  std::uint64_t bytes_needed = 0;    ///< with which none would have been dropped
  std::uint64_t complete_since = 0;  ///< the last dropped event, 0: none was
  bool exact = true;                 ///< `forgotten` are all messages that were dropped
  std::vector<MessageTally::Count> forgotten;
};

struct TracePart {
  int node = 0;
  std::string program;
  std::string host;
  std::string machine;  ///< parts of the same have one clock
  bool ended_early = false;
  double origin = 0;      ///< what MPI_Wtime() said there at time 0
  std::int64_t wall = 0;  ///< nanoseconds since 1970 at time 0, by its machine's clock
  std::uint64_t length = 0;
  std::uint64_t foreign_calls = 0;     ///< by threads that are no ranks
  std::vector<int> ranks;              ///< world ranks
  std::vector<std::string> functions;  ///< by Event::function; empty: of no event
  std::vector<std::string> sites;      ///< labels
  std::vector<TraceTrack> workers;
  TraceTrack others;
};

/// What follows the events of all tracks, which lie one after the other: workers, others. `part` need not have spans: the
/// numbers of events are `counts`.
std::string pack_trace_end(const TracePart& part, std::span<const std::uint64_t> counts);
/// Spans lead into `bytes`, which must be aligned as Event is. Failure sentence: it is not whole.
Result<TracePart> unpack_trace(std::string_view bytes);

}  // namespace tmpi::observe
