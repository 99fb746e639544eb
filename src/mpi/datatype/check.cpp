#include "mpi/datatype/check.hpp"

namespace tmpi::mpi {

Err bad_type(MPI_Datatype handle) {
  if (handle == MPI_DATATYPE_NULL)
    return fail(MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL: never created, or freed");
  return fail(MPI_ERR_TYPE, "{} is no datatype, or one that tmpi does not provide",
              static_cast<const void*>(handle));
}

Err uncommitted_type() {
  return fail(MPI_ERR_TYPE, "the datatype has not been committed: call MPI_Type_commit first");
}

bool reach_countable(MPI_Count count, const Datatype& type) noexcept {
  MPI_Count reach, end;
  return type.size() == 0 || (!__builtin_mul_overflow(count, type.extent(), &reach) &&
                              !__builtin_add_overflow(reach, type.true_lb(), &end) &&
                              !__builtin_add_overflow(end, type.true_extent(), &end));
}

Err uncountable(MPI_Count count, const Datatype& type) {
  return fail(
      MPI_ERR_COUNT,
      "{} elements of {} bytes, {} bytes from one to the next, exceed what MPI_Count can hold (2^63 - 1 "
      "bytes); check the count for a value that was never set",
      count, type.size(), type.extent());
}

}  // namespace tmpi::mpi
