/* cancelled BYTES: rank 0 sends messages of so many bytes that nobody receives and takes each of them back, without end. It says when it has
 * begun. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS_TO_BEGIN = 3 };

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int bytes = argc > 1 ? atoi(argv[1]) : 8;
  char* data = calloc((size_t)bytes, 1);
  /* The other one is inside MPI, but receives none of them. */
  if (rank == 1) MPI_Recv(NULL, 0, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (long round = 0;; round++) {
    MPI_Request request;
    MPI_Status status;
    int cancelled = 0;
    MPI_Isend(data, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    if (!cancelled) {
      fprintf(stderr, "a message that nobody has received was not taken back\n");
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (round == ROUNDS_TO_BEGIN) {
      printf("under way\n");
      fflush(stdout);
    }
  }
}
