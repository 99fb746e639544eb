/* frame BYTES [RANK]: rank RANK (default: the last one) calls a function whose automatic array has so many bytes, and
 * touches its far end first. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static int touch_far_end(long bytes) {
  volatile char array[bytes];
  array[0] = 1;
  return array[0];
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  const int victim = argc > 2 ? atoi(argv[2]) : size - 1;
  const int fits = rank != victim || touch_far_end(atol(argv[1])) == 1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%s\n", fits ? "it fits" : "it does not");
  MPI_Finalize();
  return 0;
}
