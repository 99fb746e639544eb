// ProtocolCounters: what has left a node process for others, by protocol (docs/design/network.md).
#pragma once

#include <cstdint>

namespace tmpi::mpi::remote {

/// Messages and bytes per protocol.
struct ProtocolCounters {
  std::uint64_t eager = 0, eager_bytes = 0;
  std::uint64_t rendezvous = 0, rendezvous_bytes = 0;  ///< asked first: RTS
  std::uint64_t early = 0, early_bytes = 0;  ///< large, and sent at once to a receive that had been announced
  std::uint64_t reads = 0, read_bytes = 0;   ///< large messages, puts and gets that this process has read
  std::uint64_t one_sided = 0,
                one_sided_bytes = 0;  ///< of windows: operations, what they bring, locks, answers
  std::uint64_t deferred = 0;         ///< posts that had to wait for resources
  // Eager limits of pairs of nodes (--eager-limit dynamic): changes, and requests that this node has refused.
  std::uint64_t limits_raised = 0, limits_lowered = 0, limits_refused = 0;
  std::uint64_t largest_limit = 0;  ///< bytes, of any pair at any time
  std::uint64_t moving =
      0;  ///< ns of looks at the network that have moved something, if switches are metered
  std::uint64_t receive_buffers = 0;  ///< bytes that the transport has posted for what comes unasked, at most
  std::uint64_t rate =
      0;  ///< bytes per second of the large message whose data came quickest, from asking on, if metered
  bool can_read = false;   ///< the transport reads other nodes' memory
  std::uint64_t step = 0;  ///< ns per message of the quickest of those looks; 0: nothing has landed
  std::uint64_t piece =
      0;  ///< bytes of large messages that are posted at a time with progress beside the ranks
  std::uint64_t waits = 0;   ///< how often a caller has waited for whoever was inside of the protocol layer,
  std::uint64_t waited = 0;  ///< and ns of that
};

}  // namespace tmpi::mpi::remote
