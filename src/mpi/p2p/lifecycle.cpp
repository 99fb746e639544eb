#include "mpi/p2p/lifecycle.hpp"

#include <atomic>

#include "mpi/base/handles.hpp"
#include "mpi/base/no_memory.hpp"
#include "mpi/base/status.hpp"
#include "mpi/p2p/buffered.hpp"
#include "mpi/p2p/p2p.hpp"

namespace tmpi::mpi {
namespace {

std::atomic<bool> generalized_exist{false};

RequestPool& pool_of(const Request& request) noexcept {
  if (request.comm != nullptr) [[likely]]
    return request.comm->owner->requests;
  return current_rank().requests;
}

inline Err dispose(Request& request) {
  Err error;
  if (request.extension != nullptr) [[unlikely]]
    error = request.extension->retire(request);
  pool_of(request).give_back(request);
  return error;
}

Err start_buffered(Request& request) {
  if (request.peer != MPI_PROC_NULL) {
    SendBuffer* attached;
    TMPI_TRY(buffer_for(*request.comm, attached));
    TMPI_TRY(attached->send(*request.comm, request.buffer, request.count, *request.type, request.peer,
                            request.tag, request.serial));
    request.buffered = true;
  }
  request.complete();
  return kOk;
}

}  // namespace

Request& create_request(Comm* comm, std::unique_ptr<RequestExtension> extension, bool persistent) {
  Request& request = current_rank().requests.take();
  request.kind = RequestKind::kExtended;
  request.persistent = persistent;
  request.active = !persistent;
  request.extension = std::move(extension);
  request.comm = comm;
  if (comm != nullptr) {
    ++comm->references;
  } else {
    generalized_exist.store(true, std::memory_order_relaxed);
  }
  return request;
}

bool generalized_requests_exist() noexcept {
  return generalized_exist.load(std::memory_order_relaxed);
}

// What fails or throws has not been started.
Err start(Request& request) {
  request.active = true;
  request.cancelled = false;
  request.buffered = false;
  request.error = MPI_SUCCESS;
  request.reset();
  if (request.extension != nullptr) [[unlikely]]
    return request.extension->start(request);
  if (request.kind == RequestKind::kRecv) {
    start_recv(request);
    return kOk;
  }
  if (request.mode == SendMode::kBuffered) [[unlikely]]
    return guarded([&] { return start_buffered(request); });
  start_send(request);
  return kOk;
}

Err bad_request(MPI_Request handle) {
  return fail(MPI_ERR_REQUEST, "{} is no request: never set, or waited for or freed already",
              static_cast<const void*>(handle));
}

Err request_or_abandoned(MPI_Request handle, Request*& request) {
  request = nullptr;
  if (handle == MPI_REQUEST_NULL) return kOk;
  Request* candidate = reinterpret_cast<Request*>(handle);
  if (is_predefined(handle) ||
      (candidate->magic != Request::kMagic && candidate->magic != Request::kAbandoned))
    return bad_request(handle);
  request = candidate;
  return kOk;
}

Err outcome(Request& request, MPI_Status* status) {
  if (request.extension != nullptr) [[unlikely]]
    return request.extension->outcome(request, status);
  if (request.kind == RequestKind::kRecv || request.kind == RequestKind::kMrecv) {
    set_status(status, request.source, request.received_tag, request.bytes, request.cancelled);
  } else {
    set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, request.cancelled);
  }
  if (request.error == MPI_ERR_TRUNCATE) return truncated(request);
  if (request.error == MPI_ERR_NO_MEM && request.kind == RequestKind::kSend) return not_sent(request.peer);
  return Err(request.error);
}

Err conclude_with_outcome(MPI_Request& handle, Request& request, MPI_Status* status) {
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
