// Op: a reduction operator. Predefined ones are a table operator x kind of element; user-defined ones call back into the program
// on the calling rank's fiber (so a user's function may use its globals). MPI report, chapter 6.9.
#pragma once

#include <atomic>

#include "mpi.h"
#include "mpi/core/error.hpp"
#include "mpi/datatype/datatype.hpp"

namespace tmpi::mpi {

struct Op {
  bool commutative = true;
  MPI_Op handle = MPI_OP_NULL;                 ///< the ABI's constant if predefined, else MPI_OP_NULL
  MPI_User_function* user = nullptr;           ///< user-defined: inoutvec[i] = invec[i] op inoutvec[i]
  MPI_User_function_c* user_c = nullptr;
  mutable std::atomic<int> references{1};
};

/// Null for MPI_OP_NULL and for what is no operator.
Op* op_from(MPI_Op handle) noexcept;

/// MPI_SUCCESS if `op` is defined on `type` (MPI report, 6.9.2), else MPI_ERR_OP with a sentence.
Err check_op(const Op& op, const Datatype& type);

/// inout[i] = in[i] op inout[i] for count elements: `in` is the operand of the LOWER rank. Predefined operators on contiguous types
/// are vectorised loops. check_op must have passed. A user's function may do anything but call MPI, so this does not suspend.
void reduce_local(const Op& op, const void* in, void* inout, MPI_Count count, const Datatype& type);

}  // namespace tmpi::mpi
