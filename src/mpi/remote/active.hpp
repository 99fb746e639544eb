// Active messages of a room above this one: what goes between nodes but is no message between ranks (one-sided
// communication, mpi/rma). They share the connection, its order, and the lock with everything else.
#pragma once

#include <cstddef>
#include <span>

#include "mpi/remote/core.hpp"
#include "net/transport.hpp"

namespace tmpi::mpi::remote {

/// Called under the engine's lock, by whoever looks at the network. May post; must not suspend, nor take the lock.
struct ActiveHandlers {
  /// A message of Kind::kOneSided has begun to arrive. Its Landing has a token if landed() is to be called.
  net::Landing (*arriving)(Core& core, int peer, std::span<const std::byte> header, std::size_t payload);
  void (*landed)(Core& core, int peer, void* token);
};

/// Before the first such message is sent by anybody. Any rank, more than once.
void register_active(const ActiveHandlers& handlers) noexcept;
/// Null: none so far.
const ActiveHandlers* active_handlers() noexcept;

}  // namespace tmpi::mpi::remote
