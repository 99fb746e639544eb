/* Prints the number of ranks. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int size;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  printf("%d\n", size);
  return MPI_Finalize();
}
