/* Rank 0 computes, the others wait for it in MPI_Bcast; until there is the file that the argument names. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    puts("computing");
    fflush(stdout);
  }
  for (int more = 1; more;) {
    if (rank == 0) {
      for (volatile int i = 0; i < 1000000;) ++i;
      more = argc > 1 && access(argv[1], F_OK) != 0;
    }
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
