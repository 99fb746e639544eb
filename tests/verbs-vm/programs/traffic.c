/* traffic [BYTES [child]]: two ranks send each other messages of so many bytes at the same time, without end. The first one
 * says when they have begun, and from then on once a second that they go on. With "child" each has a child in a session of its own. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS_TO_BEGIN = 3 };

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int bytes = argc > 1 ? atoi(argv[1]) : 8;
  if (argc > 2 && fork() == 0) {
    setsid();
    execlp("sleep", "sleep", "1000", (char*)NULL);
    _exit(1);
  }
  char* out = malloc((size_t)bytes);
  char* in = malloc((size_t)bytes);
  memset(out, rank, (size_t)bytes);
  memset(in, rank, (size_t)bytes);
  double said = MPI_Wtime();
  for (long round = 0;; round++) {
    MPI_Request requests[2];
    MPI_Irecv(in, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (rank == 0 && (round == ROUNDS_TO_BEGIN || (round > ROUNDS_TO_BEGIN && MPI_Wtime() > said + 1))) {
      printf(round == ROUNDS_TO_BEGIN ? "under way\n" : "going on\n");
      fflush(stdout);
      said = MPI_Wtime();
    }
  }
}
