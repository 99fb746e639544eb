/* Depends on what it has received into memory that nobody has written. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int* sent = malloc(sizeof *sent);
  int got = 0;
  MPI_Sendrecv(sent, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  if (got == 42) puts("as it happens");
  free(sent);
  MPI_Finalize();
  return 0;
}
