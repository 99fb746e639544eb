// Point-to-point communication below the C interface. Arguments have been checked. `context` distinguishes point-to-point from collective
// traffic on the same communicator: comm.context, or comm.context | kCollective. MPI report, chapter 3.
#pragma once

#include "mpi.h"
#include "mpi/comm/comm.hpp"
#include "mpi/p2p/request.hpp"

namespace tmpi::mpi {

/// Blocking send of any mode but buffered. SUSPENDS if the message is large or synchronous and no receive is posted.
Err send(Comm& comm, ContextId context, const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag,
         SendMode mode = SendMode::kStandard);

/// Blocking receive; fills `status` unless MPI_STATUS_IGNORE. SUSPENDS until a message has come.
Err recv(Comm& comm, ContextId context, void* buffer, MPI_Count count, const Datatype& type, int source, int tag, MPI_Status* status);

/// Send and receive at once, without deadlock. SUSPENDS.
Err sendrecv(Comm& comm, ContextId context, const void* sendbuf, MPI_Count sendcount, const Datatype& sendtype, int dest, int sendtag,
             void* recvbuf, MPI_Count recvcount, const Datatype& recvtype, int source, int recvtag, MPI_Status* status);

/// Starts a nonblocking operation in `request` (described by its kind, mode, buffer, count, type, peer, tag, comm; reset). Does not suspend.
Err start(Request& request, ContextId context);

/// Waits for one request. Does not touch its handle, does not fill a status. SUSPENDS unless done.
void wait(Request& request) noexcept;

/// Waits for all of `requests[0..n)`, null entries skipped: one suspension at most. SUSPENDS.
void wait_all(Request* const* requests, int n);

}  // namespace tmpi::mpi
