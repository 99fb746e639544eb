// Blocking point-to-point calls. MPI report, 3.2, 3.4, 3.10.
#include "mpi/api/counted/counted.hpp"
#include "mpi/p2p/buffered.hpp"
#include "mpi/p2p/checks.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/rank/call.hpp"

namespace tmpi::mpi {
namespace {

inline int blocking_send(const char* name, SendMode mode, const void* buf, MPI_Count count,
                         MPI_Datatype datatype, int dest, int tag, MPI_Comm handle) {
  return on_comm(name, handle, [&](Comm& comm) -> Err {
    Datatype* type = nullptr;
    TMPI_TRY(check_send(comm, buf, count, datatype, dest, tag, type));
    return send(comm, comm.context, buf, count, *type, dest, tag, mode);
  });
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int TMPI_COUNTED(Send)(const void* buf, Count count, MPI_Datatype datatype, int dest, int tag,
                       MPI_Comm comm) {
  return blocking_send(TMPI_COUNTED_NAME(Send), SendMode::kStandard, buf, count, datatype, dest, tag, comm);
}
TMPI_COUNTED_PROFILED(Send);

int TMPI_COUNTED(Ssend)(const void* buf, Count count, MPI_Datatype datatype, int dest, int tag,
                        MPI_Comm comm) {
  return blocking_send(TMPI_COUNTED_NAME(Ssend), SendMode::kSynchronous, buf, count, datatype, dest, tag,
                       comm);
}
TMPI_COUNTED_PROFILED(Ssend);

int TMPI_COUNTED(Rsend)(const void* buf, Count count, MPI_Datatype datatype, int dest, int tag,
                        MPI_Comm comm) {
  return blocking_send(TMPI_COUNTED_NAME(Rsend), SendMode::kReady, buf, count, datatype, dest, tag, comm);
}
TMPI_COUNTED_PROFILED(Rsend);

int TMPI_COUNTED(Bsend)(const void* buf, Count count, MPI_Datatype datatype, int dest, int tag,
                        MPI_Comm comm) {
  return on_comm(TMPI_COUNTED_NAME(Bsend), comm, [&](Comm& c) -> Err {
    Datatype* type = nullptr;
    TMPI_TRY(check_send(c, buf, count, datatype, dest, tag, type));
    if (dest == MPI_PROC_NULL) return kOk;
    SendBuffer* attached;
    TMPI_TRY(buffer_for(c, attached));
    std::uint64_t serial;
    return attached->send(c, buf, count, *type, dest, tag, serial);
  });
}
TMPI_COUNTED_PROFILED(Bsend);

int TMPI_COUNTED(Recv)(void* buf, Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                       MPI_Status* status) {
  return on_comm(TMPI_COUNTED_NAME(Recv), comm, [&](Comm& c) -> Err {
    Datatype* type = nullptr;
    TMPI_TRY(check_recv(c, buf, count, datatype, source, tag, type));
    return recv(c, c.context, buf, count, *type, source, tag, status);
  });
}
TMPI_COUNTED_PROFILED(Recv);

int TMPI_COUNTED(Sendrecv)(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                           void* recvbuf, Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                           MPI_Comm comm, MPI_Status* status) {
  return on_comm(TMPI_COUNTED_NAME(Sendrecv), comm, [&](Comm& c) -> Err {
    Datatype *send_type, *recv_type;
    TMPI_TRY(check_send(c, sendbuf, sendcount, sendtype, dest, sendtag, send_type));
    TMPI_TRY(check_recv(c, recvbuf, recvcount, recvtype, source, recvtag, recv_type));
    return sendrecv(c, c.context, sendbuf, sendcount, *send_type, dest, sendtag, recvbuf, recvcount,
                    *recv_type, source, recvtag, status);
  });
}
TMPI_COUNTED_PROFILED(Sendrecv);

int TMPI_COUNTED(Sendrecv_replace)(void* buf, Count count, MPI_Datatype datatype, int dest, int sendtag,
                                   int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  return on_comm(TMPI_COUNTED_NAME(Sendrecv_replace), comm, [&](Comm& c) -> Err {
    Datatype* type = nullptr;
    TMPI_TRY(check_send(c, buf, count, datatype, dest, sendtag, type));
    TMPI_TRY(check_recv(c, buf, count, datatype, source, recvtag, type));
    return sendrecv_replace(c, c.context, buf, count, *type, dest, sendtag, source, recvtag, status);
  });
}
TMPI_COUNTED_PROFILED(Sendrecv_replace);
