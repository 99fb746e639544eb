/* Rank 0 writes far behind the end of an array of main's. */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  volatile char array[100] = {0};
  volatile long index = 200000;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) array[index] = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return array[0];
}
