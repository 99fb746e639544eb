/* //////// as the MPI Bugs Initiative describes its programs
BEGIN_MPI_TESTS
  $ mpirun -np 2 ${EXE}
  | ERROR: CallOrdering
  | two receives wait for one another
END_MPI_TESTS
//////// */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank, other;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Recv(&other, 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(&rank, 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD);
  return MPI_Finalize();
}
