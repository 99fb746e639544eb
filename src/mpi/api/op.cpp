// MPI_Op_free, MPI_Op_commutative. MPI_Op_create and MPI_Reduce_local: counted/op.cpp. MPI report, 6.9.
#include "mpi/op/op.hpp"
#include "mpi/api/profiled.hpp"
#include "mpi/base/check.hpp"
#include "mpi/rank/call.hpp"

using namespace tmpi::mpi;

int PMPI_Op_free(MPI_Op* op) {
  return on_rank("MPI_Op_free", [&](Rank&) -> Err {
    TMPI_TRY(check_pointer(op, "op"));
    const Op* freed = op_from(*op);
    if (freed == nullptr) return bad_op(*op);
    if (freed->predefined())
      return fail(MPI_ERR_OP, "a predefined operator cannot be freed; free only what MPI_Op_create returned");
    freed->release();
    *op = MPI_OP_NULL;
    return kOk;
  });
}
TMPI_PROFILED(MPI_Op_free);

int PMPI_Op_commutative(MPI_Op handle, int* commute) {
  return on_rank("MPI_Op_commutative", [&](Rank&) -> Err {
    const Op* op = op_from(handle);
    if (op == nullptr) return bad_op(handle);
    TMPI_TRY(check_pointer(commute, "commute"));
    *commute = op->commutative;
    return kOk;
  });
}
TMPI_PROFILED(MPI_Op_commutative);
