// Point-to-point communication below the C interface. Arguments have been checked. `context` distinguishes
// point-to-point from collective traffic on the same communicator: comm.context, or comm.context |
// kCollective. MPI report, chapter 3.
#pragma once

#include "mpi.h"
#include "mpi/comm/comm.hpp"
#include "mpi/request/request.hpp"

namespace tmpi::mpi {

/// Blocking send of any mode but buffered. MPI_ERR_NO_MEM: see not_sent(). SUSPENDS if the message is large
/// or synchronous and no receive is posted, or if many lie at the receiver, of the same worker, which is ready.
Err send(Comm& comm, ContextId context, const void* buffer, MPI_Count count, const Datatype& type, int dest,
         int tag, SendMode mode = SendMode::kStandard);

/// Blocking receive; fills `status` unless MPI_STATUS_IGNORE. SUSPENDS until a message has come.
Err recv(Comm& comm, ContextId context, void* buffer, MPI_Count count, const Datatype& type, int source,
         int tag, MPI_Status* status);

/// Send and receive at once, without deadlock. SUSPENDS.
Err sendrecv(Comm& comm, ContextId context, const void* sendbuf, MPI_Count sendcount,
             const Datatype& sendtype, int dest, int sendtag, void* recvbuf, MPI_Count recvcount,
             const Datatype& recvtype, int source, int recvtag, MPI_Status* status);

/// The same with one buffer for both; makes a packed copy of what is sent. MPI_ERR_NO_MEM. SUSPENDS.
Err sendrecv_replace(Comm& comm, ContextId context, void* buffer, MPI_Count count, const Datatype& type,
                     int dest, int sendtag, int source, int recvtag, MPI_Status* status);

/// Starts a nonblocking operation described by a pending `request`: kind (kSend or kRecv), mode, buffer,
/// count, type, peer, tag, comm, context. The request completes now or later; it and the buffer must stay
/// until then. Do not suspend.
void start_send(Request& request) noexcept;
void start_recv(Request& request) noexcept;

/// Tries to cancel an active operation (MPI report, 3.8.4): a receive that has not been matched, a send whose
/// message has not been received, even if it was buffered and the send is complete. The request completes in
/// any case: at once if cancelled; when the answer has come if the message has gone to another node (until
/// then the request is pending, even if it was done). Does not suspend.
Err cancel(Request& request);

/// Takes a posted receive back, which is then as if it had never been; nobody completes it. False: it has been
/// matched, and completes, or is complete. Does not suspend.
[[nodiscard]] bool withdraw_receive(Request& request) noexcept;

/// Waits for one request, and for all of `requests[0..n)` (null entries skipped; one suspension at most).
/// Neither touches handles or fills a status. SUSPEND unless done, and then too if much has been sent to a rank
/// of the same worker that is ready.
void wait(Request& request) noexcept;
void wait_all(Request* const* requests, int n) noexcept;
/// Waits until at least one of `requests[0..n)` is done; null entries skipped, at least one is not null.
/// SUSPENDS.
void wait_any(Request* const* requests, int n) noexcept;

/// The error of a receive whose message was too long.
Err truncated(const Request& request);
/// MPI_ERR_NO_MEM, explained: the error of a send to rank `dest` that what was sent there before stands in
/// the way of (p2p/channel.hpp: flush()).
Err not_sent(int dest);
/// MPI_ERR_OTHER, explained: the error of a send and receive whose message from rank `source` has been received and
/// whose own to `dest` was not sent for the reason of not_sent(). Not MPI_ERR_NO_MEM, after which a call may be made
/// again: that would receive the next message. not_sent() if there is no `source`.
Err received_but_not_sent(int source, int dest);

/// What a finished blocking receive has come to: fills the status, returns its error (explained).
Err receive_outcome(const Request& request, MPI_Status* status);

}  // namespace tmpi::mpi
