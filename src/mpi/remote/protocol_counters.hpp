// ProtocolCounters: what has left a node process for others, by protocol (docs/network.md).
#pragma once

#include <cstdint>

namespace tmpi::mpi::remote {

/// Messages and bytes per protocol.
struct ProtocolCounters {
  std::uint64_t eager = 0, eager_bytes = 0;
  std::uint64_t rendezvous = 0, rendezvous_bytes = 0;  ///< asked first: RTS
  std::uint64_t early = 0, early_bytes = 0;  ///< large, and sent at once to a receive that had been announced
  std::uint64_t reads = 0, read_bytes = 0;   ///< of `rendezvous`: moved by the receiver's reads
  std::uint64_t deferred = 0;                ///< posts that had to wait for resources
};

}  // namespace tmpi::mpi::remote
