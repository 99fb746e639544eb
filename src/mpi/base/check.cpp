#include "mpi/base/check.hpp"

namespace tmpi::mpi {

Err bad_count(MPI_Count count) {
  return fail(MPI_ERR_COUNT, "count is {}: it must not be negative", count);
}

Err null_pointer(const char* argument) {
  return fail(MPI_ERR_ARG, "argument {} is NULL", argument);
}

Err null_buffer(MPI_Count count) {
  return fail(MPI_ERR_BUFFER, "the buffer is NULL, but count is {}", count);
}

}  // namespace tmpi::mpi
