// The target's side of one-sided communication between nodes: what arrives is checked, done, and answered, by whichever
// worker looks at the network, at its scheduling points and while it idles. Used under the lock of the protocol layer.
#pragma once

#include "mpi/remote/active.hpp"

namespace tmpi::mpi::rma {

net::Landing arriving(remote::Core& core, int peer, std::span<const std::byte> header, std::size_t payload);
void landed(remote::Core& core, int peer, void* token);

}  // namespace tmpi::mpi::rma
