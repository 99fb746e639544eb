// Nonblocking and persistent point-to-point calls. MPI report, 3.7, 3.9.
#include "mpi/api/profiled.hpp"
#include "mpi/core/call.hpp"
#include "mpi/p2p/checks.hpp"
#include "mpi/p2p/lifecycle.hpp"

namespace tmpi::mpi {
namespace {

enum class Begin : bool { kNow, kLater };  // nonblocking, persistent

inline int begin(const char* name, Begin when, RequestKind kind, SendMode mode, const void* buf,
                 MPI_Count count, MPI_Datatype datatype, int peer, int tag, MPI_Comm handle,
                 MPI_Request* out) {
  return on_comm(name, handle, [&](Comm& comm) -> Err {
    TMPI_TRY(check_pointer(out, "request"));
    Datatype* type = nullptr;
    TMPI_TRY(kind == RequestKind::kSend ? check_send(comm, buf, count, datatype, peer, tag, type)
                                        : check_recv(comm, buf, count, datatype, peer, tag, type));
    Request& request = create_request(comm, {kind, mode, buf, count, type, peer, tag});
    if (when == Begin::kLater) {
      request.persistent = true;
      request.active = false;
    } else if (Err error = start(request)) {
      request.complete();
      MPI_Request unused;
      (void)free_request(unused, request);
      return error;
    }
    *out = handle_of(request);
    return kOk;
  });
}

Err start_persistent(MPI_Request handle) {
  Request* request;
  TMPI_TRY(request_from(handle, request));
  if (request == nullptr || !request->persistent) {
    return fail(MPI_ERR_REQUEST,
                "only a persistent request (MPI_Send_init, MPI_Recv_init, ...) can be started");
  }
  if (request->active)
    return fail(MPI_ERR_REQUEST, "the persistent request is active: complete it with a wait or test first");
  return start(*request);
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_Isend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request* request) {
  return begin("MPI_Isend", Begin::kNow, RequestKind::kSend, SendMode::kStandard, buf, count, datatype, dest,
               tag, comm, request);
}
TMPI_PROFILED(MPI_Isend);

int PMPI_Issend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request* request) {
  return begin("MPI_Issend", Begin::kNow, RequestKind::kSend, SendMode::kSynchronous, buf, count, datatype,
               dest, tag, comm, request);
}
TMPI_PROFILED(MPI_Issend);

int PMPI_Irsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request* request) {
  return begin("MPI_Irsend", Begin::kNow, RequestKind::kSend, SendMode::kReady, buf, count, datatype, dest,
               tag, comm, request);
}
TMPI_PROFILED(MPI_Irsend);

int PMPI_Ibsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request* request) {
  return begin("MPI_Ibsend", Begin::kNow, RequestKind::kSend, SendMode::kBuffered, buf, count, datatype, dest,
               tag, comm, request);
}
TMPI_PROFILED(MPI_Ibsend);

int PMPI_Irecv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
               MPI_Request* request) {
  return begin("MPI_Irecv", Begin::kNow, RequestKind::kRecv, SendMode::kStandard, buf, count, datatype,
               source, tag, comm, request);
}
TMPI_PROFILED(MPI_Irecv);

int PMPI_Send_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                   MPI_Request* request) {
  return begin("MPI_Send_init", Begin::kLater, RequestKind::kSend, SendMode::kStandard, buf, count, datatype,
               dest, tag, comm, request);
}
TMPI_PROFILED(MPI_Send_init);

int PMPI_Ssend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                    MPI_Request* request) {
  return begin("MPI_Ssend_init", Begin::kLater, RequestKind::kSend, SendMode::kSynchronous, buf, count,
               datatype, dest, tag, comm, request);
}
TMPI_PROFILED(MPI_Ssend_init);

int PMPI_Rsend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                    MPI_Request* request) {
  return begin("MPI_Rsend_init", Begin::kLater, RequestKind::kSend, SendMode::kReady, buf, count, datatype,
               dest, tag, comm, request);
}
TMPI_PROFILED(MPI_Rsend_init);

int PMPI_Bsend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                    MPI_Request* request) {
  return begin("MPI_Bsend_init", Begin::kLater, RequestKind::kSend, SendMode::kBuffered, buf, count, datatype,
               dest, tag, comm, request);
}
TMPI_PROFILED(MPI_Bsend_init);

int PMPI_Recv_init(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                   MPI_Request* request) {
  return begin("MPI_Recv_init", Begin::kLater, RequestKind::kRecv, SendMode::kStandard, buf, count, datatype,
               source, tag, comm, request);
}
TMPI_PROFILED(MPI_Recv_init);

int PMPI_Start(MPI_Request* request) {
  return on_rank("MPI_Start", [&](Rank&) -> Err {
    TMPI_TRY(check_pointer(request, "request"));
    return start_persistent(*request);
  });
}
TMPI_PROFILED(MPI_Start);

int PMPI_Startall(int count, MPI_Request array_of_requests[]) {
  return on_rank("MPI_Startall", [&](Rank&) -> Err {
    TMPI_TRY(check_count(count));
    if (count > 0) TMPI_TRY(check_pointer(array_of_requests, "array_of_requests"));
    for (int i = 0; i < count; ++i) TMPI_TRY(start_persistent(array_of_requests[i]));
    return kOk;
  });
}
TMPI_PROFILED(MPI_Startall);
