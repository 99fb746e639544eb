// The rendezvous protocols (--rndv) by name: how a message that is too large to be sent eagerly travels
// (docs/design/network.md). Needs nothing of the library, so that tmpirun can read it too.
#pragma once

#include <cstdint>

#include "base/choices.hpp"

namespace tmpi::mpi::remote {

enum class Rendezvous : std::uint8_t {
  kRtsCts,    ///< RTS, CTS, DATA, as in the paper: both sides' CPUs must come by between
  kRead,      ///< RTS, the receiver reads from the sender's memory, FIN; only where the transport can
  kEarlyCts,  ///< a receiver whose receive is posted already has announced it: DATA at once; else as kRtsCts
};

inline constexpr tmpi::Choice<Rendezvous> kRendezvousProtocols[] = {
    {"rts-cts", Rendezvous::kRtsCts, "the sender asks, the receiver answers, the data follow", ""},
    {"read", Rendezvous::kRead, "the receiver reads from the sender's memory, where the transport can", ""},
    {"early-cts", Rendezvous::kEarlyCts, "a receive that waits already has announced itself to the sender",
     ""},
};

}  // namespace tmpi::mpi::remote
