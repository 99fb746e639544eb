// MPI_Psend_init, MPI_Precv_init. MPI report, 4.2.
#include "mpi/p2p/partitioned.hpp"
#include "mpi/api/counted/counted.hpp"
#include "mpi/p2p/checks.hpp"
#include "mpi/p2p/lifecycle.hpp"
#include "mpi/rank/call.hpp"

namespace tmpi::mpi {
namespace {

Err check_partitions(int partitions, MPI_Count count, const Datatype& type) {
  if (partitions < 0) return fail(MPI_ERR_ARG, "partitions is {}: it must not be negative", partitions);
  MPI_Count elements = 0;
  if (!__builtin_mul_overflow(partitions, count, &elements) && countable(elements, type)) return kOk;
  return fail(MPI_ERR_COUNT, "{} partitions of {} elements exceed what MPI_Count can hold", partitions,
              count);
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int TMPI_COUNTED(Psend_init)(const void* buf, int partitions, Count count, MPI_Datatype datatype, int dest,
                             int tag, MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return on_comm(TMPI_COUNTED_NAME(Psend_init), comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_pointer(request, "request"));
    Datatype* type = nullptr;
    TMPI_TRY(check_send(c, buf, count, datatype, dest, tag, type));
    TMPI_TRY(check_partitions(partitions, count, *type));
    *request =
        handle_of(create_partitioned_send(c, {const_cast<void*>(buf), partitions, count, *type}, dest, tag));
    return kOk;
  });
}
TMPI_COUNTED_PROFILED(Psend_init);

int TMPI_COUNTED(Precv_init)(void* buf, int partitions, Count count, MPI_Datatype datatype, int source,
                             int tag, MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return on_comm(TMPI_COUNTED_NAME(Precv_init), comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_pointer(request, "request"));
    Datatype* type = nullptr;
    TMPI_TRY(check_recv(c, buf, count, datatype, source, tag, type));
    if (source == MPI_ANY_SOURCE)
      return fail(MPI_ERR_RANK, "a partitioned receive names its source: MPI_ANY_SOURCE is not allowed");
    if (tag == MPI_ANY_TAG)
      return fail(MPI_ERR_TAG, "a partitioned receive names its tag: MPI_ANY_TAG is not allowed");
    TMPI_TRY(check_partitions(partitions, count, *type));
    *request = handle_of(create_partitioned_recv(c, {buf, partitions, count, *type}, source, tag));
    return kOk;
  });
}
TMPI_COUNTED_PROFILED(Precv_init);
