// Messages of a trace: each sending paired with the receiving of the same message. Messages with the same key
// do not overtake one another, so the n-th sent is the n-th received; what the rings have dropped is counted
// along.
#pragma once

#include <cstdint>
#include <vector>

#include "observe/event.hpp"
#include "observe/event_ring.hpp"

namespace tmpi::observe {

struct TracedMessage {
  int from = 0;  ///< world ranks
  int to = 0;
  int tag = 0;
  std::uint64_t context = 0;
  std::int64_t bytes = 0;
  std::uint64_t sent = 0;      ///< ticks
  std::uint64_t received = 0;  ///< ticks
};

struct TracedMessages {
  std::vector<TracedMessage> paired;
  /// Sent and not received when the recording stopped, or the other event was dropped.
  std::uint64_t unpaired = 0;
  /// False if so many were dropped that nobody knows which belong together: then none is paired.
  bool known = true;
};

/// `rings`: all rings of the process. Not for rings that are still written.
TracedMessages pair_messages(const std::vector<const EventRing*>& rings);

}  // namespace tmpi::observe
