// The frames of one-sided operations, and their checks.
#pragma once

#include "mpi/api/window_calls.hpp"
#include "mpi/datatype/check.hpp"
#include "mpi/p2p/lifecycle.hpp"
#include "mpi/rma/epoch.hpp"
#include "mpi/rma/operation.hpp"
#include "mpi/rma/synchronize.hpp"

namespace tmpi::mpi {

/// The frame of an operation, by its slower way: most are done at once, so it counts as a call of a loop.
template <class Body>
[[gnu::always_inline]] inline int on_operation(const char* name, MPI_Win handle, Body&& body) {
  return on_win(name, handle, [&](Window& window) -> Err {
    let_others_run(window);
    return body(window);
  });
}

inline Err check_target(const Window& window, int rank) {
  return rank == MPI_PROC_NULL ? kOk : check_member(window, rank);
}

/// Data of the calling rank.
inline Err check_data(const void* address, MPI_Count count, MPI_Datatype handle, Data& data) {
  Datatype* type = nullptr;
  TMPI_TRY(check_buffer(address, count, handle, type));
  data = {const_cast<void*>(address), count, type};
  return kOk;
}

/// Data at a target.
inline Err check_spot(const Window& window, int rank, MPI_Aint disp, MPI_Count count, MPI_Datatype handle,
                      Spot& spot) {
  Datatype* type = nullptr;
  TMPI_TRY(check_count(count));
  TMPI_TRY(check_type(handle, type));
  TMPI_TRY(check_target(window, rank));
  spot = {rank, disp, count, type};
  return kOk;
}

inline Err check_operator(MPI_Op handle, const Op*& op) {
  op = op_from(handle);
  return op == nullptr ? bad_op(handle) : kOk;
}

/// Runs `body(Window&, Request*)` with a new request, whose handle is given away unless the body fails.
template <class Body>
inline int on_win_request(const char* name, MPI_Win handle, int target, MPI_Request* out, Body&& body) {
  return on_win(name, handle, [&](Window& window) -> Err {
    TMPI_TRY(check_pointer(out, "request"));
    *out = MPI_REQUEST_NULL;
    let_others_run(window);
    if (target != MPI_PROC_NULL) TMPI_TRY(check_passive(window, name));
    Request& request = create_request(window.comm, nullptr, false);
    if (Err error = body(window, &request)) {
      request.complete();
      MPI_Request unused;
      (void)free_request(unused, request);
      return error;
    }
    *out = handle_of(request);
    return kOk;
  });
}

}  // namespace tmpi::mpi
