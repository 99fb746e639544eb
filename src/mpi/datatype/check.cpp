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

}  // namespace tmpi::mpi
