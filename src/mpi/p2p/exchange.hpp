// Nonblocking send-receive (MPI_Isendrecv, MPI_Isendrecv_replace): one request for two messages. MPI report,
// 3.11.
#pragma once

#include "mpi/request/request.hpp"

namespace tmpi::mpi {

/// One half of an exchange; arguments have been checked.
struct ExchangeSide {
  const void* buffer;
  MPI_Count count;
  const Datatype& type;
  int peer;
  int tag;
};

/// Starts both operations; the request is done when both are. Does not suspend.
Request& start_exchange(Comm& comm, const ExchangeSide& send, const ExchangeSide& recv);

/// The same with the receive's buffer for both; makes a packed copy of what is sent. MPI_ERR_NO_MEM.
Err start_exchange_replace(Comm& comm, const ExchangeSide& recv, int dest, int sendtag, Request*& request);

}  // namespace tmpi::mpi
