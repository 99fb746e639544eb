// Blocking point-to-point calls. MPI report, 3.2, 3.4, 3.10.
#include "mpi/api/profiled.hpp"
#include "mpi/core/call.hpp"
#include "mpi/p2p/buffered.hpp"
#include "mpi/p2p/checks.hpp"
#include "mpi/p2p/lifecycle.hpp"
#include "mpi/p2p/p2p.hpp"

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

int PMPI_Send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return blocking_send("MPI_Send", SendMode::kStandard, buf, count, datatype, dest, tag, comm);
}
TMPI_PROFILED(MPI_Send);

int PMPI_Ssend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return blocking_send("MPI_Ssend", SendMode::kSynchronous, buf, count, datatype, dest, tag, comm);
}
TMPI_PROFILED(MPI_Ssend);

int PMPI_Rsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return blocking_send("MPI_Rsend", SendMode::kReady, buf, count, datatype, dest, tag, comm);
}
TMPI_PROFILED(MPI_Rsend);

int PMPI_Bsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return on_comm("MPI_Bsend", comm, [&](Comm& c) -> Err {
    Datatype* type = nullptr;
    TMPI_TRY(check_send(c, buf, count, datatype, dest, tag, type));
    if (dest == MPI_PROC_NULL) return kOk;
    if (c.owner->buffer == nullptr) return no_buffer_attached();
    return c.owner->buffer->send(c, buf, count, *type, dest, tag);
  });
}
TMPI_PROFILED(MPI_Bsend);

int PMPI_Recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Status* status) {
  return on_comm("MPI_Recv", comm, [&](Comm& c) -> Err {
    Datatype* type = nullptr;
    TMPI_TRY(check_recv(c, buf, count, datatype, source, tag, type));
    return recv(c, c.context, buf, count, *type, source, tag, status);
  });
}
TMPI_PROFILED(MPI_Recv);

int PMPI_Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                  void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                  MPI_Status* status) {
  return on_comm("MPI_Sendrecv", comm, [&](Comm& c) -> Err {
    Datatype *send_type, *recv_type;
    TMPI_TRY(check_send(c, sendbuf, sendcount, sendtype, dest, sendtag, send_type));
    TMPI_TRY(check_recv(c, recvbuf, recvcount, recvtype, source, recvtag, recv_type));
    return sendrecv(c, c.context, sendbuf, sendcount, *send_type, dest, sendtag, recvbuf, recvcount,
                    *recv_type, source, recvtag, status);
  });
}
TMPI_PROFILED(MPI_Sendrecv);

int PMPI_Sendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
                          int recvtag, MPI_Comm comm, MPI_Status* status) {
  return on_comm("MPI_Sendrecv_replace", comm, [&](Comm& c) -> Err {
    Datatype* type = nullptr;
    TMPI_TRY(check_send(c, buf, count, datatype, dest, sendtag, type));
    TMPI_TRY(check_recv(c, buf, count, datatype, source, recvtag, type));
    return sendrecv_replace(c, c.context, buf, count, *type, dest, sendtag, source, recvtag, status);
  });
}
TMPI_PROFILED(MPI_Sendrecv_replace);
