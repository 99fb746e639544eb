// The forms of a collective call: MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, each also with large
// counts. They differ in nothing but when the operation runs; `check` (coll_checks.hpp) checks the arguments
// and fills Args for all of them.
//
//   int TMPI_COUNTED(Scan)(const void* sendbuf, void* recvbuf, Count count, ..., MPI_Comm comm) {
//     return blocking(TMPI_COUNTED_NAME(Scan), comm, check_scan, sendbuf, recvbuf, count, ...);
//   }
#pragma once

#include "mpi/api/coll_checks.hpp"
#include "mpi/coll/coll.hpp"
#include "mpi/coll/nonblocking.hpp"
#include "mpi/rank/call.hpp"

namespace tmpi::mpi {

/// Does the operation.
template <class... Parameters, class... Values>
[[gnu::always_inline]] inline int blocking(const char* name, MPI_Comm handle,
                                           Err (*check)(Comm&, Args&, Parameters...),
                                           const Values&... values) {
  return on_collective(name, handle, [&](Comm& comm) -> Err {
    Args args;
    TMPI_TRY(check(comm, args, values...));
    return run(comm, args);
  });
}

/// Starts it; `*request` completes with it.
template <class... Parameters, class... Values>
int nonblocking(const char* name, MPI_Comm handle, MPI_Request* request,
                Err (*check)(Comm&, Args&, Parameters...), const Values&... values) {
  return on_collective(name, handle, [&](Comm& comm) -> Err {
    Args args;
    TMPI_TRY(check_pointer(request, "request"));
    TMPI_TRY(check(comm, args, values...));
    return start_collective(name, comm, args, request);
  });
}

/// Makes a persistent request of it, to be started by MPI_Start. There are no hints that `info` could give.
template <class... Parameters, class... Values>
int persistent(const char* name, MPI_Comm handle, MPI_Info, MPI_Request* request,
               Err (*check)(Comm&, Args&, Parameters...), const Values&... values) {
  return on_collective(name, handle, [&](Comm& comm) -> Err {
    Args args;
    TMPI_TRY(check_pointer(request, "request"));
    TMPI_TRY(check(comm, args, values...));
    return init_collective(name, comm, args, request);
  });
}

}  // namespace tmpi::mpi
