/* chatter [SECONDS]: all ranks talk to their neighbours, for ever or for a time. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, stop = 0, told = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const double end = argc > 1 ? MPI_Wtime() + atof(argv[1]) : 1e300;
  char out[20000] = "", in[20000];
  for (long round = 0; !stop; round++) {
    const int bytes = (int)(round * 997 % (long)sizeof out);
    MPI_Sendrecv(out, bytes, MPI_CHAR, (rank + 1) % size, 1, in, sizeof in, MPI_CHAR,
                 (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int late = MPI_Wtime() > end;
    MPI_Allreduce(&late, &stop, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (!told++) {
      printf("rank %d talks\n", rank);
      fflush(stdout);
    }
  }
  MPI_Finalize();
  return 0;
}
