// MPI_Start, MPI_Startall: persistent operations of all kinds. MPI report, 3.9.
#include "mpi/api/profiled.hpp"
#include "mpi/base/check.hpp"
#include "mpi/p2p/lifecycle.hpp"
#include "mpi/rank/call.hpp"

namespace tmpi::mpi {
namespace {

Err start_persistent(MPI_Request handle) {
  Request* request;
  TMPI_TRY(request_from(handle, request));
  if (request == nullptr || !request->persistent) {
    return fail(MPI_ERR_REQUEST,
                "only a persistent request (MPI_Send_init, MPI_Recv_init, ...) can be started");
  }
  if (request->active)
    return fail(MPI_ERR_REQUEST, "the persistent request is active: complete it with a wait or test first");
  Err error = guarded([&] { return start(*request); });
  if (error) request->active = false;  // it may be started again
  return error;
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

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
