// Messages of a trace: each sending paired with the receiving of the same message. Messages with the same key
// do not overtake one another, so the n-th sent is the n-th received; what the workers have dropped is counted
// along.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "observe/trace.hpp"

namespace tmpi::observe {

struct TracedMessage {
  int from = 0;  ///< world ranks
  int to = 0;
  int tag = 0;
  std::uint64_t context = 0;
  std::int64_t bytes = 0;
  std::uint64_t sent = 0;  ///< nanoseconds, by the clock of part `sent_in`
  std::uint64_t received = 0;
  std::uint32_t sent_in = 0;
  std::uint32_t received_in = 0;
};

struct TracedMessages {
  std::vector<TracedMessage> paired;
  /// Sent and not received when the recording stopped, or the other event was dropped.
  std::uint64_t unpaired = 0;
  /// False if of a part so many were dropped that nobody knows which belong together: then none of its is paired.
  bool known = true;
};

/// `parts`: of all node processes; their clocks need not agree.
TracedMessages pair_messages(std::span<const TracePart> parts);

}  // namespace tmpi::observe
