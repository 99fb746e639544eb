// Barrier. MPI report, 6.3, 6.12, 6.13.
#include "mpi/api/coll_forms.hpp"
#include "mpi/api/profiled.hpp"

using namespace tmpi::mpi;

int PMPI_Barrier(MPI_Comm comm) {
  return blocking("MPI_Barrier", comm, check_barrier);
}
TMPI_PROFILED(MPI_Barrier);
