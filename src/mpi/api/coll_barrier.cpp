// Barrier. MPI report, 6.3, 6.12, 6.13.
#include "mpi/api/coll_forms.hpp"
#include "mpi/api/profiled.hpp"

using namespace tmpi::mpi;

int PMPI_Barrier(MPI_Comm comm) {
  return blocking("MPI_Barrier", comm, check_barrier);
}
TMPI_PROFILED(MPI_Barrier);

int PMPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  return nonblocking("MPI_Ibarrier", comm, request, check_barrier);
}
TMPI_PROFILED(MPI_Ibarrier);

int PMPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return persistent("MPI_Barrier_init", comm, info, request, check_barrier);
}
TMPI_PROFILED(MPI_Barrier_init);
