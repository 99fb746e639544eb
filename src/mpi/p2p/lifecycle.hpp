// The life of a request that the user holds: created by a nonblocking or persistent call, started, concluded
// by a wait or test. Not for the requests of blocking calls, which live on the stack. MPI report, 3.7 to 3.9.
#pragma once

#include "mpi/base/handles.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/request/request.hpp"

namespace tmpi::mpi {

/// What a nonblocking or persistent operation is asked to do; checked already.
struct Operation {
  RequestKind kind;
  SendMode mode;
  const void* buffer;
  MPI_Count count;
  const Datatype* type;
  int peer;
  int tag;
};

/// A request for the operation, not started. Holds references to communicator and datatype until concluded. In the
/// caller, so that the operation stays in registers: written to memory in pieces of 4 bytes and read from there in
/// pieces of 8, which compilers make of them, each would wait for its writes to leave the processor's store buffer.
inline Request& create_request(Comm& comm, const Operation& operation) {
  Request& request = comm.owner->requests.take();
  request.kind = operation.kind;
  request.mode = operation.mode;
  request.buffer = const_cast<void*>(operation.buffer);
  request.count = operation.count;
  request.type = operation.type;
  request.peer = operation.peer;
  request.tag = operation.tag;
  request.comm = &comm;
  request.context = comm.context;
  operation.type->retain();
  ++comm.references;
  return request;
}

/// A request that is not a message: active if `persistent` is false, else inactive. Not started. `comm` may
/// be null.
Request& create_request(Comm* comm, std::unique_ptr<RequestExtension> extension, bool persistent);

/// True once the program has made a request that it completes itself. Any thread; relaxed.
bool generalized_requests_exist() noexcept;

/// Starts it (also again, if persistent). MPI_ERR_BUFFER: a buffered send without room. Does not suspend.
Err start(Request& request);

/// The error for a handle that is none.
[[gnu::cold]] Err bad_request(MPI_Request handle);

/// The request behind a handle; null for MPI_REQUEST_NULL. MPI_ERR_REQUEST if the handle is none or has been
/// freed.
inline Err request_from(MPI_Request handle, Request*& request) {
  if (!is_predefined(handle)) [[likely]] {
    request = reinterpret_cast<Request*>(handle);
    if (request->magic == Request::kMagic) [[likely]]
      return kOk;
  }
  request = nullptr;
  return handle == MPI_REQUEST_NULL ? kOk : bad_request(handle);
}

/// The same, also for a request that has been freed while its operation went on.
Err request_or_abandoned(MPI_Request handle, Request*& request);

inline MPI_Request handle_of(Request& request) noexcept {
  return reinterpret_cast<MPI_Request>(&request);
}

/// True if a wait would have something to wait for: neither null nor inactive persistent.
inline bool is_active(const Request* request) noexcept {
  return request != nullptr && request->active;
}

/// conclude() where a status is wanted, or the request failed, is persistent or carries more than a message.
Err conclude_with_outcome(MPI_Request& handle, Request& request, MPI_Status* status);

/// Takes a done request off the user's hands: fills the status, makes a persistent request inactive, else
/// frees it and sets the handle to MPI_REQUEST_NULL. Returns the operation's error (explained).
inline Err conclude(MPI_Request& handle, Request& request, MPI_Status* status) {
  if (status != MPI_STATUS_IGNORE || request.error != MPI_SUCCESS || request.extension != nullptr ||
      request.persistent || request.comm == nullptr)
    return conclude_with_outcome(handle, request, status);
  handle = MPI_REQUEST_NULL;
  request.comm->owner->requests.give_back(request);
  return kOk;
}

/// Fills the status of a done request without concluding it (MPI_Request_get_status); returns the operation's
/// error (explained).
Err outcome(Request& request, MPI_Status* status);

/// Frees the request: at once if it is inactive or done, else when it is done (MPI_Request_free).
Err free_request(MPI_Request& handle, Request& request);

}  // namespace tmpi::mpi
