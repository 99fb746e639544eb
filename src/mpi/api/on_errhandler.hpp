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
  const Frame frame(name);
  Rank* rank = frame.rank();
  if (rank == nullptr) return raise_not_initialized(name);
  Errhandler* handler = nullptr;
  if (Err error = check_errhandler(handle, kind, handler)) return raise(name, nullptr, error);
  if (Err error = guarded([&]() -> Err { return body(*rank, handler); }))
    return raise_on(name, {kind, null, handler}, error);
  return MPI_SUCCESS;
}

}  // namespace tmpi::mpi
