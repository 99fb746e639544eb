/* pipes give-up|for-ever: ranks 0 and 1, on one worker, wait for each other through a pipe. rank 1 would write, but rank 0 holds the core; it gives up
 * after twelve seconds, or never. */
#include <mpi.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, ends[2] = {-1, -1};
  char byte = 'x';
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 && pipe(ends) != 0) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Bcast(ends, 2, MPI_INT, 0, MPI_COMM_WORLD); /* descriptors are those of the process */
  if (rank == 0) {
    printf("here\n");
    struct pollfd request = {ends[0], POLLIN, 0};
    if (strcmp(argv[1], "give-up") == 0) poll(&request, 1, 12000);
    if (strcmp(argv[1], "give-up") != 0 && read(ends[0], &byte, 1) != 1) MPI_Abort(MPI_COMM_WORLD, 4);
  } else if (rank == 1) {
    if (write(ends[1], &byte, 1) != 1) MPI_Abort(MPI_COMM_WORLD, 5);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
