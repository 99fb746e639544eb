// What comes back to the origin of one-sided operations. Used under the lock of the protocol layer.
#pragma once

#include "mpi/remote/core.hpp"
#include "mpi/rma/wire.hpp"
#include "net/transport.hpp"

namespace tmpi::mpi::rma {

/// Where a reply's data goes; `complains` is set if it belongs to no operation.
net::Landing reply_arriving(const Header& header, int peer, std::size_t payload, bool& complains);
/// It is there.
void reply_landed(remote::Core& core, const Header& header, std::size_t payload);
/// kTaken. False: it belongs to no operation.
bool taken_arrived(const Header& header, int peer);
/// kAnswer, kGranted, kRefuse. False: there is no such window.
bool notice_arrived(remote::Core& core, const Header& header, int peer);

}  // namespace tmpi::mpi::rma
