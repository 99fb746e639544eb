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
#include "mpi/core/call.hpp"

namespace tmpi::mpi {

/// Does the operation.
template <class... Parameters, class... Values>
int blocking(const char* name, MPI_Comm handle, Err (*check)(Comm&, Args&, Parameters...),
             const Values&... values) {
  return on_comm(name, handle, [&](Comm& comm) -> Err {
    Args args;
    TMPI_TRY(check(comm, args, values...));
    return run(comm, args);
  });
}

}  // namespace tmpi::mpi
