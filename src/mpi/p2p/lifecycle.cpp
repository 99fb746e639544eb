#include "mpi/p2p/lifecycle.hpp"

#include "mpi/core/status.hpp"
#include "mpi/p2p/buffered.hpp"
#include "mpi/p2p/p2p.hpp"

namespace tmpi::mpi {
namespace {

void dispose(Request& request) noexcept {
  request.comm->owner->requests.give_back(request);
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

Err start(Request& request) {
  request.active = true;
  request.cancelled = false;
  request.error = MPI_SUCCESS;
  request.reset();
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

void fill_status(const Request& request, MPI_Status* status) noexcept {
  if (request.kind == RequestKind::kRecv || request.kind == RequestKind::kMrecv) {
    set_status(status, request.source, request.received_tag, request.bytes, request.cancelled);
  } else {
    set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, request.cancelled);
  }
}

Err conclude(MPI_Request& handle, Request& request, MPI_Status* status) {
  fill_status(request, status);
  Err error = request.error == MPI_ERR_TRUNCATE ? truncated(request) : Err(request.error);
  if (request.persistent) {
    request.active = false;
  } else {
    handle = MPI_REQUEST_NULL;
    dispose(request);
  }
  return error;
}

void free_request(MPI_Request& handle, Request& request) noexcept {
  handle = MPI_REQUEST_NULL;
  if (!request.active || request.done()) {
    dispose(request);
  } else {
    request.comm->owner->requests.abandon(request);
  }
}

}  // namespace tmpi::mpi
