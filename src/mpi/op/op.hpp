// Op: a reduction operator. Predefined ones are a table operator x kind of element; user-defined ones call
// back into the program on the calling rank's fiber (so a user's function may use its globals). MPI report,
// chapter 6.9.
#pragma once

#include <atomic>
#include <cstdint>

#include "mpi.h"
#include "mpi/base/error.hpp"
#include "mpi/base/handle_memory.hpp"
#include "mpi/datatype/datatype.hpp"

namespace tmpi::mpi {

/// The predefined operators; kUser: made by MPI_Op_create.
enum class Operator : unsigned char {
  kSum,
  kMin,
  kMax,
  kProd,
  kBand,
  kBor,
  kBxor,
  kLand,
  kLor,
  kLxor,
  kMinloc,
  kMaxloc,
  kReplace,
  kNoOp,
  kUser,
};
inline constexpr int kOperators = static_cast<int>(Operator::kUser);

struct Op {
  TMPI_IN_HANDLE_MEMORY(HandleKind::kOp, Op)
  static constexpr std::uint32_t kMagic = 0x6f706f70;

  bool commutative = true;
  Operator which = Operator::kUser;
  std::uint32_t magic = kMagic;
  MPI_Op handle = MPI_OP_NULL;        ///< the ABI's constant if predefined, else MPI_OP_NULL
  MPI_User_function* user = nullptr;  ///< user-defined: inoutvec[i] = invec[i] op inoutvec[i]
  MPI_User_function_c* user_c = nullptr;
  mutable std::atomic<int> references{1};

  bool predefined() const noexcept { return which != Operator::kUser; }
  /// A pending operation holds its operator, so that MPI_Op_free does not wait for it.
  void retain() const noexcept {
    if (!predefined()) references.fetch_add(1, std::memory_order_relaxed);
  }
  void release() const noexcept;  ///< frees the operator with the last reference
};

/// Null for MPI_OP_NULL and for what is no operator.
Op* op_from(MPI_Op handle) noexcept;
MPI_Op handle_of(const Op& op) noexcept;
/// MPI_ERR_OP for a handle that is no operator.
[[gnu::cold]] Err bad_op(MPI_Op handle);

/// A user-defined operator with one reference; exactly one of the functions is not null.
Op* create_op(MPI_User_function* user, MPI_User_function_c* user_c, bool commutative);

/// MPI_SUCCESS if `op` is defined on `type` (MPI report, 6.9.2) or accepted all the same, else MPI_ERR_OP with a
/// sentence. MPI_REPLACE and MPI_NO_OP, which the report wants for one-sided communication, are defined on
/// every predefined type.
Err check_op(const Op& op, const Datatype& type);

/// True if `op` is accepted on `type` although the report does not define it (docs/design/datatypes.md).
bool beyond_the_report(const Op& op, const Datatype& type) noexcept;

/// "MPI_SUM", or words for one that the program has made.
const char* name_of(Operator which) noexcept;

/// inout[i] = in[i] op inout[i] for count elements: `in` is the operand of the LOWER rank (MPI_REPLACE:
/// inout[i] = in[i]). Predefined operators on contiguous types are vectorised loops. check_op must have
/// passed. A user's function may do anything but call MPI, so this does not suspend.
void reduce_local(const Op& op, const void* in, void* inout, MPI_Count count, const Datatype& type);

}  // namespace tmpi::mpi
