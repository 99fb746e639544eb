// The frame of functions that make an object and are given its error handler: their own errors go there too
// (MPI report, 7.4.2 and 11.3.1).
#pragma once

#include "mpi/base/errhandler.hpp"
#include "mpi/rank/call.hpp"

namespace tmpi::mpi {

/// Runs `body(Rank&, Errhandler*)`; an error is raised on an object of `kind` that does not exist yet, `null`
/// being its handle.
template <class Body>
int on_errhandler(const char* name, MPI_Errhandler handle, Raiser kind, void* null, Body&& body) {
  int code = MPI_SUCCESS;
  const int framed = on_rank(name, [&](Rank& rank) -> Err {
    Errhandler* handler = nullptr;
    TMPI_TRY(check_errhandler(handle, kind, handler));
    if (Err error = body(rank, handler)) code = raise_on(name, {kind, null, handler}, error);
    return kOk;
  });
  return framed != MPI_SUCCESS ? framed : code;
}

}  // namespace tmpi::mpi
