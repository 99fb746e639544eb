// Operations: one-sided operations on other nodes, until what they use at the origin is free. Small ones are sent at
// once; larger ones, and those that want something back, go in pieces, a few at a time. Used under the lock of the
// protocol layer.
#pragma once

#include "mpi/remote/core.hpp"
#include "mpi/rma/operation.hpp"
#include "mpi/rma/sent_types.hpp"
#include "mpi/rma/wire.hpp"

namespace tmpi::mpi::rma {

/// What is to be done; on the caller's stack.
struct Plan {
  Window& window;
  int node = 0;
  Header header;
  Data origin = {};     ///< no type: brings nothing
  Data result = {};     ///< no type: wants nothing
  MPI_Count bytes = 0;  ///< of the origin's data, or what is wanted
  MPI_Count grain = 1;  ///< pieces are multiples of it
  Request* request = nullptr;
};

/// Begins it; completes the request now or later.
void begin(remote::Core& core, const Plan& plan, const Spot& target);

/// The operation with this header is to be answered, unless an answer is on its way that has been asked for before.
void ask_for_answer(RemoteState::Peer& peer, Header& header) noexcept;

/// Tells a rank of another node that it has the lock of member `rank`, and frees the applicant.
void grant(remote::Core& core, const WindowShared& window, int rank, TargetLock::Applicant& applicant);

}  // namespace tmpi::mpi::rma
