/* Takes MPI_Wtime around calls, for comparison with a timeline, and exchanges messages of all kinds: small
 * and large, received into posted buffers and by wildcards. Prints "rank name begin end". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static void stamp(const char* name, double begin) {
  printf("%d %s %.9f %.9f\n", rank, name, begin, MPI_Wtime());
}

int main(int argc, char** argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 1;
  static char buffer[1 << 17];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double begin = MPI_Wtime();
  MPI_Barrier(MPI_COMM_WORLD);
  stamp("MPI_Barrier", begin);
  for (int i = 0; i < rounds; i++) {
    MPI_Request requests[2];
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Irecv(buffer, 1 << 16, MPI_CHAR, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&buffer[1 << 16], i % 2 == 0 ? 1 << 16 : 8, MPI_CHAR, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (rank == 0) {
      for (int n = 1; n < size; n++)
        MPI_Recv(buffer, 64, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Send(buffer, 1 + i % 64, MPI_CHAR, 0, 2 + rank, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  begin = MPI_Wtime();
  MPI_Sendrecv_replace(buffer, 8, MPI_CHAR, size - 1 - rank, 99, size - 1 - rank, 99, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
  stamp("MPI_Sendrecv_replace", begin);
  MPI_Finalize();
  return 0;
}
