// What the wait, test and status calls have in common: the frame of calls with an array of requests.
#pragma once

#include "mpi/base/check.hpp"
#include "mpi/p2p/complete.hpp"
#include "mpi/p2p/turn.hpp"
#include "mpi/rank/call.hpp"

namespace tmpi::mpi {

// What a test that found nothing does: let the others run, so that a loop around it comes to an end.
inline void nothing_yet() noexcept {
  sched::yield_polling();
}

// What a call that found what it asks for does before it concludes the requests: see p2p/turn.hpp.
inline void found_at_once(const RequestArray& requests) noexcept {
  if (requests.comm() != nullptr) found_at_once(*requests.comm()->owner);
}

// Runs `body(RequestArray&)`; an error is raised on the communicator of the first active request.
template <class Body>
int on_array(const char* name, int count, MPI_Request* handles, Body&& body) {
  const Frame frame(name);
  if (frame.rank() == nullptr) [[unlikely]]
    return raise_not_initialized(name);
  Err error = check_count(count);
  if (!error && count > 0) error = check_pointer(handles, "array_of_requests");
  if (error) return raise(name, nullptr, error);
  RequestArray requests({handles, static_cast<std::size_t>(count)});
  error = guarded([&]() -> Err {
    TMPI_TRY(requests.look_up());
    return body(requests);
  });
  return error ? raise(name, requests.comm(), error) : MPI_SUCCESS;
}

}  // namespace tmpi::mpi
