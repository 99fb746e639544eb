#include "mpi/p2p/lifecycle.hpp"

#include "mpi/core/status.hpp"
#include "mpi/p2p/buffered.hpp"
#include "mpi/p2p/p2p.hpp"

namespace tmpi::mpi {
namespace {

RequestPool& pool_of(const Request& request) noexcept {
  return request.comm != nullptr ? request.comm->owner->requests : current_rank().requests;
}

Err dispose(Request& request) {
  Err error;
  if (request.extension != nullptr) error = request.extension->retire(request);
  pool_of(request).give_back(request);
  return error;
}

Err start_buffered(Request& request) {
  if (request.peer != MPI_PROC_NULL) {
    SendBuffer* attached = request.comm->owner->buffer.get();
    if (attached == nullptr) return no_buffer_attached();
    TMPI_TRY(attached->send(*request.comm, request.buffer, request.count, *request.type, request.peer,
                            request.tag));
  }
  request.complete();
  return kOk;
}

}  // namespace

Err no_buffer_attached() {
  return fail(MPI_ERR_BUFFER, "a buffered send needs memory: call MPI_Buffer_attach first (or use MPI_Send)");
}

Request& create_request(Comm& comm, const Operation& operation) {
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

Request& create_request(Comm* comm, std::unique_ptr<RequestExtension> extension, bool persistent) {
  Request& request = current_rank().requests.take();
  request.kind = RequestKind::kExtended;
  request.persistent = persistent;
  request.active = !persistent;
  request.extension = std::move(extension);
  request.comm = comm;
  if (comm != nullptr) ++comm->references;
  return request;
}

Err start(Request& request) {
  request.active = true;
  request.cancelled = false;
  request.error = MPI_SUCCESS;
  request.reset();
  if (request.extension != nullptr) return request.extension->start(request);
  if (request.kind == RequestKind::kRecv) {
    start_recv(request);
    return kOk;
  }
  if (request.mode == SendMode::kBuffered) return start_buffered(request);
  start_send(request);
  return kOk;
}

Err request_from(MPI_Request handle, Request*& request) {
  request = nullptr;
  if (handle == MPI_REQUEST_NULL) return kOk;
  constexpr std::uintptr_t kFirstPointer = 4096;  // smaller handles are the ABI's predefined constants
  if (reinterpret_cast<std::uintptr_t>(handle) >= kFirstPointer) {
    Request* candidate = reinterpret_cast<Request*>(handle);
    if (candidate->magic == Request::kMagic) {
      request = candidate;
      return kOk;
    }
  }
  return fail(MPI_ERR_REQUEST, "{} is no request: never set, or waited for or freed already",
              static_cast<const void*>(handle));
}

Err outcome(Request& request, MPI_Status* status) {
  if (request.extension != nullptr) return request.extension->outcome(request, status);
  if (request.kind == RequestKind::kRecv || request.kind == RequestKind::kMrecv) {
    set_status(status, request.source, request.received_tag, request.bytes, request.cancelled);
  } else {
    set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, request.cancelled);
  }
  return request.error == MPI_ERR_TRUNCATE ? truncated(request) : Err(request.error);
}

Err conclude(MPI_Request& handle, Request& request, MPI_Status* status) {
  Err error = outcome(request, status);
  if (request.persistent) {
    request.active = false;
    return error;
  }
  handle = MPI_REQUEST_NULL;
  const Err retired = dispose(request);
  return error ? error : retired;
}

Err free_request(MPI_Request& handle, Request& request) {
  handle = MPI_REQUEST_NULL;
  if (!request.active || request.done()) return dispose(request);
  pool_of(request).abandon(request);
  return kOk;
}

}  // namespace tmpi::mpi
