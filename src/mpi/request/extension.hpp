// RequestExtension: what a request does that is more than one message: a collective, a generalized request, a
// partitioned message, a communicator in the making. The request itself only carries the handle, the waiting
// and the completion (Request::complete). Used by the request's rank alone.
#pragma once

#include "mpi.h"
#include "mpi/base/error.hpp"

namespace tmpi::mpi {

struct Request;

class RequestExtension {
 public:
  virtual ~RequestExtension() = default;

  /// Starts the operation, also again if it is persistent; `request` is pending. Does not suspend.
  virtual Err start(Request& request) = 0;

  /// Of a done operation: fills the status (may be MPI_STATUS_IGNORE) and returns the operation's error,
  /// explained. Called by every wait, test and MPI_Request_get_status that finds the request done.
  virtual Err outcome(Request& request, MPI_Status* status) = 0;

  /// The operation is over and its request goes away: after a wait or test, or some time after
  /// MPI_Request_free.
  virtual Err retire(Request& request);

  /// Name of the MPI call that it belongs to, for reports; null: not known.
  virtual const char* call() const noexcept { return nullptr; }

  /// MPI_Cancel of a request that is pending, or done but not concluded. By default nothing: the operation
  /// completes as if it had not been asked.
  virtual Err cancel(Request& request);
};

}  // namespace tmpi::mpi
