// One-sided operations below the C interface. Handles, counts and ranks have been checked; epochs, ranges and how types
// fit together are checked here. MPI report, 12.3. Inside a node everything is done when a call returns. Between nodes
// operations are sent (remote.hpp); the calls SUSPEND only while too much is on its way there.
#pragma once

#include <limits>

#include "mpi/datatype/datatype.hpp"
#include "mpi/op/op.hpp"
#include "mpi/request/request.hpp"
#include "mpi/rma/window.hpp"

namespace tmpi::mpi {

/// Without holes. More than there can be is the most there can be, which fits nowhere.
inline MPI_Count bytes_of(MPI_Count count, const Datatype& type) noexcept {
  MPI_Count bytes;
  return __builtin_mul_overflow(count, type.size(), &bytes) ? std::numeric_limits<MPI_Count>::max() : bytes;
}

/// Data of the calling rank.
struct Data {
  void* address = nullptr;  ///< not written through if it is an origin's
  MPI_Count count = 0;
  const Datatype* type = nullptr;
  MPI_Count bytes() const noexcept { return bytes_of(count, *type); }
};

/// Data in a window.
struct Spot {
  int rank = 0;  ///< a member's, or MPI_PROC_NULL
  MPI_Aint disp = 0;
  MPI_Count count = 0;
  const Datatype* type = nullptr;
  MPI_Count bytes() const noexcept { return bytes_of(count, *type); }
};

// MPI_ERR_RMA_SYNC, MPI_ERR_RMA_RANGE, MPI_ERR_DISP, MPI_ERR_TRUNCATE: the data does not fit; of the accumulates also
// MPI_ERR_OP, MPI_ERR_TYPE. `request`: null, or a pending one that completes with the operation at the origin, unless an
// error is returned.
Err put(Window& window, const Data& origin, const Spot& target, Request* request);
Err get(Window& window, const Data& origin, const Spot& target, Request* request);
Err accumulate(Window& window, const Op& op, const Data& origin, const Spot& target, Request* request);
/// With MPI_NO_OP the origin is not looked at.
Err get_accumulate(Window& window, const Op& op, const Data& origin, const Data& result, const Spot& target,
                   Request* request);
/// One element of a predefined type.
Err fetch_and_op(Window& window, const Op& op, const void* origin, void* result, const Spot& target);
Err compare_and_swap(Window& window, const void* origin, const void* compare, void* result,
                     const Spot& target);

}  // namespace tmpi::mpi
