// MPI_Buffer_flush and its kind: the messages that are in an attached buffer leave it. Attaching:
// counted/p2p_buffer.cpp. MPI report, 3.6.
#include "mpi/api/on_session.hpp"
#include "mpi/api/profiled.hpp"
#include "mpi/base/check.hpp"
#include "mpi/p2p/buffered.hpp"
#include "mpi/p2p/lifecycle.hpp"
#include "mpi/rank/call.hpp"

namespace tmpi::mpi {
namespace {

Err iflush(Rank& rank, const void* owner, Comm* comm, MPI_Request* request) {
  TMPI_TRY(check_pointer(request, "request"));
  Request* made;
  TMPI_TRY(iflush_buffer(rank, owner, comm, made));
  *request = handle_of(*made);
  return kOk;
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_Buffer_flush(void) {
  return on_rank("MPI_Buffer_flush", [](Rank& rank) { return flush_buffer(rank, nullptr); });
}
TMPI_PROFILED(MPI_Buffer_flush);

int PMPI_Buffer_iflush(MPI_Request* request) {
  return on_rank("MPI_Buffer_iflush", [&](Rank& rank) { return iflush(rank, nullptr, nullptr, request); });
}
TMPI_PROFILED(MPI_Buffer_iflush);

int PMPI_Comm_flush_buffer(MPI_Comm comm) {
  return on_comm("MPI_Comm_flush_buffer", comm, [](Comm& c) { return flush_buffer(*c.owner, &c); });
}
TMPI_PROFILED(MPI_Comm_flush_buffer);

int PMPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request* request) {
  return on_comm("MPI_Comm_iflush_buffer", comm, [&](Comm& c) { return iflush(*c.owner, &c, &c, request); });
}
TMPI_PROFILED(MPI_Comm_iflush_buffer);

int PMPI_Session_flush_buffer(MPI_Session session) {
  return on_session("MPI_Session_flush_buffer", session,
                    [](Session& opened, Rank& rank) { return flush_buffer(rank, &opened); });
}
TMPI_PROFILED(MPI_Session_flush_buffer);

int PMPI_Session_iflush_buffer(MPI_Session session, MPI_Request* request) {
  return on_session("MPI_Session_iflush_buffer", session,
                    [&](Session& opened, Rank& rank) { return iflush(rank, &opened, nullptr, request); });
}
TMPI_PROFILED(MPI_Session_iflush_buffer);
