// The start of MPI functions on a session: finds it, and raises errors on it.
#pragma once

#include <utility>

#include "mpi/init/session.hpp"
#include "mpi/rank/call.hpp"

namespace tmpi::mpi {

inline ErrorTarget target_of(MPI_Session handle, const Session& session) {
  return {Raiser::kSession, handle, session.errhandler};
}

/// Runs body(session, rank); its errors are raised on the session.
template <class Body>
int on_session(const char* name, MPI_Session handle, Body&& body) {
  const Frame frame(name);
  Rank* rank = frame.rank();
  if (rank == nullptr) return raise_not_initialized(name);
  Session* session = session_from(handle);
  if (session == nullptr)
    return raise(name, nullptr,
                 handle == MPI_SESSION_NULL
                     ? fail(MPI_ERR_SESSION, "the session is MPI_SESSION_NULL: never opened, or finalized")
                     : fail(MPI_ERR_SESSION, "{} is no session", static_cast<const void*>(handle)));
  const ErrorTarget target = target_of(handle, *session);
  if (Err error = guarded([&]() -> Err { return body(*session, *rank); }))
    return raise_on(name, target, error);
  return MPI_SUCCESS;
}

}  // namespace tmpi::mpi
