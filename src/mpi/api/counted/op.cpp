// MPI_Op_create, whose function takes its length as an int or an MPI_Count, and MPI_Reduce_local. MPI report,
// 6.9.5, 6.9.7.
#include "mpi/op/op.hpp"

#include "mpi/api/counted/counted.hpp"
#include "mpi/datatype/check.hpp"
#include "mpi/rank/call.hpp"

namespace tmpi::mpi {
namespace {

[[maybe_unused]] Op* create(MPI_User_function* user, bool commutative) {
  return create_op(user, nullptr, commutative);
}
[[maybe_unused]] Op* create(MPI_User_function_c* user, bool commutative) {
  return create_op(nullptr, user, commutative);
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int TMPI_COUNTED(Op_create)(UserFunction* user_fn, int commute, MPI_Op* op) {
  return on_rank(TMPI_COUNTED_NAME(Op_create), [&](Rank&) -> Err {
    TMPI_TRY(check_pointer(op, "op"));
    if (user_fn == nullptr) return fail(MPI_ERR_ARG, "the operator's function user_fn is NULL");
    *op = handle_of(*create(user_fn, commute != 0));
    return kOk;
  });
}
TMPI_COUNTED_PROFILED(Op_create);

int TMPI_COUNTED(Reduce_local)(const void* inbuf, void* inoutbuf, Count count, MPI_Datatype datatype,
                               MPI_Op handle) {
  return on_rank(TMPI_COUNTED_NAME(Reduce_local), [&](Rank&) -> Err {
    Datatype* type = nullptr;
    TMPI_TRY(check_buffer(inbuf, count, datatype, type));
    TMPI_TRY(check_buffer(inoutbuf, count, datatype, type));
    const Op* op = op_from(handle);
    if (op == nullptr) return bad_op(handle);
    if (inbuf == MPI_IN_PLACE || inoutbuf == MPI_IN_PLACE)
      return fail(MPI_ERR_BUFFER,
                  "MPI_IN_PLACE has no meaning here: MPI_Reduce_local works in place on inoutbuf already");
    TMPI_TRY(check_op(*op, *type));
    reduce_local(*op, inbuf, inoutbuf, count, *type);
    return kOk;
  });
}
TMPI_COUNTED_PROFILED(Reduce_local);
