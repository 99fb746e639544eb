// A crash that nobody explains.
#include <mpi.h>

int main(int argc, char** argv) {
  int rank, *volatile nowhere = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) *nowhere = rank;
  return MPI_Finalize();
}
