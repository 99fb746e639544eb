// MPI_Op_create, MPI_Op_free, MPI_Op_commutative, MPI_Reduce_local. MPI report, 6.9.
#include "mpi/op/op.hpp"
#include "mpi/api/profiled.hpp"
#include "mpi/core/call.hpp"
#include "mpi/core/check.hpp"

using namespace tmpi::mpi;

namespace {

[[gnu::cold]] Err bad_op(MPI_Op handle) {
  if (handle == MPI_OP_NULL) return fail(MPI_ERR_OP, "the operator is MPI_OP_NULL: never created, or freed");
  return fail(MPI_ERR_OP, "{} is no reduction operator", static_cast<const void*>(handle));
}

int create(const char* name, MPI_User_function* user, MPI_User_function_c* user_c, int commute, MPI_Op* op) {
  return on_rank(name, [&](Rank&) -> Err {
    TMPI_TRY(check_pointer(op, "op"));
    if (user == nullptr && user_c == nullptr)
      return fail(MPI_ERR_ARG, "the operator's function user_fn is NULL");
    *op = handle_of(*create_op(user, user_c, commute != 0));
    return kOk;
  });
}

int reduce(const char* name, const void* inbuf, void* inoutbuf, MPI_Count count, MPI_Datatype datatype,
           MPI_Op handle) {
  return on_rank(name, [&](Rank&) -> Err {
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

}  // namespace

int PMPI_Op_create(MPI_User_function* user_fn, int commute, MPI_Op* op) {
  return create("MPI_Op_create", user_fn, nullptr, commute, op);
}
TMPI_PROFILED(MPI_Op_create);

int PMPI_Op_create_c(MPI_User_function_c* user_fn, int commute, MPI_Op* op) {
  return create("MPI_Op_create_c", nullptr, user_fn, commute, op);
}
TMPI_PROFILED(MPI_Op_create_c);

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

int PMPI_Reduce_local(const void* inbuf, void* inoutbuf, int count, MPI_Datatype datatype, MPI_Op op) {
  return reduce("MPI_Reduce_local", inbuf, inoutbuf, count, datatype, op);
}
TMPI_PROFILED(MPI_Reduce_local);

int PMPI_Reduce_local_c(const void* inbuf, void* inoutbuf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Op op) {
  return reduce("MPI_Reduce_local_c", inbuf, inoutbuf, count, datatype, op);
}
TMPI_PROFILED(MPI_Reduce_local_c);
