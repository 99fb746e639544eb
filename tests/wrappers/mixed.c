/* The C part of mixed.f90: a global and a static that each rank changes. */
#include <mpi.h>

int in_c = 5;

int change_in_c_(int* by) {
  static int own = 100;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  in_c += *by;
  own += in_c;
  MPI_Barrier(MPI_COMM_WORLD);
  return own - rank;
}
