// Arrivals: messages from other nodes that lie in a matcher because nobody has received them yet. Eager ones
// hold their data, the others what it takes to fetch it. Their memory comes from the pool of cells. Any
// worker; nothing suspends.
#pragma once

#include <cstdint>

#include "mpi/match/message.hpp"
#include "net/transport.hpp"

namespace tmpi::mpi::remote {

/// What a message from elsewhere says beyond its Message.
struct Origin {
  int peer = 0;               ///< node it comes from
  int dest = 0;               ///< world rank it goes to
  std::uint16_t flags = 0;    ///< of its Envelope
  std::uint64_t sender = 0;   ///< its transfer there; 0: none
  std::uint64_t address = 0;  ///< rendezvous: of the data, exposed as `key`; 0: it is sent on demand
  net::RemoteKey key;
  std::uint64_t came = 0;  ///< rendezvous: ticks, if messages are served in order
};

/// Room for a message with `bytes` bytes of data behind it (0 for a rendezvous): Message::payload points
/// there. Null if there is no memory.
Message* take_arrival(MPI_Count bytes) noexcept;
Origin& origin_of(Message& message) noexcept;
void give_back_arrival(Message& message) noexcept;

}  // namespace tmpi::mpi::remote
