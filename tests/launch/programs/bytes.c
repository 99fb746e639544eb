/* bytes COUNT: rank 0 writes COUNT bytes of every value, newlines rare; nothing else. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    unsigned state = 1;
    for (long i = atol(argv[1]); i > 0; i--) {
      state = state * 1103515245u + 12345u;
      putchar((state >> 16) & 0xff);
    }
  }
  MPI_Finalize();
  return 0;
}
