// Nonblocking and persistent point-to-point calls. MPI report, 3.7, 3.9, 3.11.
#include "mpi/api/counted/counted.hpp"
#include "mpi/p2p/checks.hpp"
#include "mpi/p2p/exchange.hpp"
#include "mpi/p2p/lifecycle.hpp"
#include "mpi/rank/call.hpp"

namespace tmpi::mpi {
namespace {

enum class Begin : bool { kNow, kLater };  // nonblocking, persistent

// A template, so that kind and mode are constants and each instance, which has one caller, becomes part of
// it: else the arguments go through memory twice.
template <Begin when, RequestKind kind, SendMode mode>
inline int begin(const char* name, const void* buf, MPI_Count count, MPI_Datatype datatype, int peer, int tag,
                 MPI_Comm handle, MPI_Request* out) {
  return on_comm(name, handle, [&](Comm& comm) -> Err {
    TMPI_TRY(check_pointer(out, "request"));
    Datatype* type = nullptr;
    TMPI_TRY(kind == RequestKind::kSend ? check_send(comm, buf, count, datatype, peer, tag, type)
                                        : check_recv(comm, buf, count, datatype, peer, tag, type));
    Request& request = create_request(comm, {kind, mode, buf, count, type, peer, tag});
    if constexpr (when == Begin::kLater) {
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

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int TMPI_COUNTED(Isend)(const void* buf, Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                        MPI_Request* request) {
  return begin<Begin::kNow, RequestKind::kSend, SendMode::kStandard>(TMPI_COUNTED_NAME(Isend), buf, count,
                                                                     datatype, dest, tag, comm, request);
}
TMPI_COUNTED_PROFILED(Isend);

int TMPI_COUNTED(Issend)(const void* buf, Count count, MPI_Datatype datatype, int dest, int tag,
                         MPI_Comm comm, MPI_Request* request) {
  return begin<Begin::kNow, RequestKind::kSend, SendMode::kSynchronous>(TMPI_COUNTED_NAME(Issend), buf, count,
                                                                        datatype, dest, tag, comm, request);
}
TMPI_COUNTED_PROFILED(Issend);

int TMPI_COUNTED(Irsend)(const void* buf, Count count, MPI_Datatype datatype, int dest, int tag,
                         MPI_Comm comm, MPI_Request* request) {
  return begin<Begin::kNow, RequestKind::kSend, SendMode::kReady>(TMPI_COUNTED_NAME(Irsend), buf, count,
                                                                  datatype, dest, tag, comm, request);
}
TMPI_COUNTED_PROFILED(Irsend);

int TMPI_COUNTED(Ibsend)(const void* buf, Count count, MPI_Datatype datatype, int dest, int tag,
                         MPI_Comm comm, MPI_Request* request) {
  return begin<Begin::kNow, RequestKind::kSend, SendMode::kBuffered>(TMPI_COUNTED_NAME(Ibsend), buf, count,
                                                                     datatype, dest, tag, comm, request);
}
TMPI_COUNTED_PROFILED(Ibsend);

int TMPI_COUNTED(Irecv)(void* buf, Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                        MPI_Request* request) {
  return begin<Begin::kNow, RequestKind::kRecv, SendMode::kStandard>(TMPI_COUNTED_NAME(Irecv), buf, count,
                                                                     datatype, source, tag, comm, request);
}
TMPI_COUNTED_PROFILED(Irecv);

int TMPI_COUNTED(Send_init)(const void* buf, Count count, MPI_Datatype datatype, int dest, int tag,
                            MPI_Comm comm, MPI_Request* request) {
  return begin<Begin::kLater, RequestKind::kSend, SendMode::kStandard>(
      TMPI_COUNTED_NAME(Send_init), buf, count, datatype, dest, tag, comm, request);
}
TMPI_COUNTED_PROFILED(Send_init);

int TMPI_COUNTED(Ssend_init)(const void* buf, Count count, MPI_Datatype datatype, int dest, int tag,
                             MPI_Comm comm, MPI_Request* request) {
  return begin<Begin::kLater, RequestKind::kSend, SendMode::kSynchronous>(
      TMPI_COUNTED_NAME(Ssend_init), buf, count, datatype, dest, tag, comm, request);
}
TMPI_COUNTED_PROFILED(Ssend_init);

int TMPI_COUNTED(Rsend_init)(const void* buf, Count count, MPI_Datatype datatype, int dest, int tag,
                             MPI_Comm comm, MPI_Request* request) {
  return begin<Begin::kLater, RequestKind::kSend, SendMode::kReady>(TMPI_COUNTED_NAME(Rsend_init), buf, count,
                                                                    datatype, dest, tag, comm, request);
}
TMPI_COUNTED_PROFILED(Rsend_init);

int TMPI_COUNTED(Bsend_init)(const void* buf, Count count, MPI_Datatype datatype, int dest, int tag,
                             MPI_Comm comm, MPI_Request* request) {
  return begin<Begin::kLater, RequestKind::kSend, SendMode::kBuffered>(
      TMPI_COUNTED_NAME(Bsend_init), buf, count, datatype, dest, tag, comm, request);
}
TMPI_COUNTED_PROFILED(Bsend_init);

int TMPI_COUNTED(Recv_init)(void* buf, Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                            MPI_Request* request) {
  return begin<Begin::kLater, RequestKind::kRecv, SendMode::kStandard>(
      TMPI_COUNTED_NAME(Recv_init), buf, count, datatype, source, tag, comm, request);
}
TMPI_COUNTED_PROFILED(Recv_init);

int TMPI_COUNTED(Isendrecv)(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, int dest,
                            int sendtag, void* recvbuf, Count recvcount, MPI_Datatype recvtype, int source,
                            int recvtag, MPI_Comm comm, MPI_Request* request) {
  return on_comm(TMPI_COUNTED_NAME(Isendrecv), comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_pointer(request, "request"));
    Datatype *send_type, *recv_type;
    TMPI_TRY(check_send(c, sendbuf, sendcount, sendtype, dest, sendtag, send_type));
    TMPI_TRY(check_recv(c, recvbuf, recvcount, recvtype, source, recvtag, recv_type));
    *request = handle_of(start_exchange(c, {sendbuf, sendcount, *send_type, dest, sendtag},
                                        {recvbuf, recvcount, *recv_type, source, recvtag}));
    return kOk;
  });
}
TMPI_COUNTED_PROFILED(Isendrecv);

int TMPI_COUNTED(Isendrecv_replace)(void* buf, Count count, MPI_Datatype datatype, int dest, int sendtag,
                                    int source, int recvtag, MPI_Comm comm, MPI_Request* request) {
  return on_comm(TMPI_COUNTED_NAME(Isendrecv_replace), comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_pointer(request, "request"));
    Datatype* type = nullptr;
    TMPI_TRY(check_send(c, buf, count, datatype, dest, sendtag, type));
    TMPI_TRY(check_recv(c, buf, count, datatype, source, recvtag, type));
    Request* made;
    TMPI_TRY(start_exchange_replace(c, {buf, count, *type, source, recvtag}, dest, sendtag, made));
    *request = handle_of(*made);
    return kOk;
  });
}
TMPI_COUNTED_PROFILED(Isendrecv_replace);
