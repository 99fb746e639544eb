// MPI_Buffer_attach, MPI_Buffer_detach, and the same for one communicator or session. MPI report, 3.6.
#include "mpi/api/counted/counted.hpp"
#include "mpi/api/on_session.hpp"
#include "mpi/base/check.hpp"
#include "mpi/p2p/buffered.hpp"
#include "mpi/rank/call.hpp"

namespace tmpi::mpi {
namespace {

Err attach(Rank& rank, const void* owner, void* buffer, MPI_Count size) {
  // A size says nothing about memory that is found as needed.
  if (buffer != MPI_BUFFER_AUTOMATIC) {
    if (size < 0) return fail(MPI_ERR_ARG, "size is {}: it must not be negative", size);
    TMPI_TRY(check_pointer(buffer, "buffer"));
  }
  return attach_buffer(rank, owner, buffer, size);
}

Err detach(Rank& rank, const void* owner, void* buffer_addr, Count* size) {
  TMPI_TRY(check_pointer(buffer_addr, "buffer_addr"));
  TMPI_TRY(check_pointer(size, "size"));
  MPI_Count bytes = 0;
  TMPI_TRY(detach_buffer(rank, owner, static_cast<void**>(buffer_addr), &bytes));
  *size = user_count(bytes);
  return kOk;
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int TMPI_COUNTED(Buffer_attach)(void* buffer, Count size) {
  return on_rank(TMPI_COUNTED_NAME(Buffer_attach),
                 [&](Rank& rank) { return attach(rank, nullptr, buffer, size); });
}
TMPI_COUNTED_PROFILED(Buffer_attach);

int TMPI_COUNTED(Buffer_detach)(void* buffer_addr, Count* size) {
  return on_rank(TMPI_COUNTED_NAME(Buffer_detach),
                 [&](Rank& rank) { return detach(rank, nullptr, buffer_addr, size); });
}
TMPI_COUNTED_PROFILED(Buffer_detach);

int TMPI_COUNTED(Comm_attach_buffer)(MPI_Comm comm, void* buffer, Count size) {
  return on_comm(TMPI_COUNTED_NAME(Comm_attach_buffer), comm,
                 [&](Comm& c) { return attach(*c.owner, &c, buffer, size); });
}
TMPI_COUNTED_PROFILED(Comm_attach_buffer);

int TMPI_COUNTED(Comm_detach_buffer)(MPI_Comm comm, void* buffer_addr, Count* size) {
  return on_comm(TMPI_COUNTED_NAME(Comm_detach_buffer), comm,
                 [&](Comm& c) { return detach(*c.owner, &c, buffer_addr, size); });
}
TMPI_COUNTED_PROFILED(Comm_detach_buffer);

int TMPI_COUNTED(Session_attach_buffer)(MPI_Session session, void* buffer, Count size) {
  return on_session(TMPI_COUNTED_NAME(Session_attach_buffer), session,
                    [&](Session& opened, Rank& rank) { return attach(rank, &opened, buffer, size); });
}
TMPI_COUNTED_PROFILED(Session_attach_buffer);

int TMPI_COUNTED(Session_detach_buffer)(MPI_Session session, void* buffer_addr, Count* size) {
  return on_session(TMPI_COUNTED_NAME(Session_detach_buffer), session,
                    [&](Session& opened, Rank& rank) { return detach(rank, &opened, buffer_addr, size); });
}
TMPI_COUNTED_PROFILED(Session_detach_buffer);
