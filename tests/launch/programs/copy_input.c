/* Rank 0 copies stdin to stdout; every other rank reports what it reads (which must be the end of file). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 1) {
    char name[100] = "";
    if (rank == 0) {
      printf("Name? ");
      fflush(stdout);
      if (!fgets(name, sizeof name, stdin)) return 3;
      printf("hello %s", name);
    }
  } else if (rank == 0) {
    char buffer[5000];
    size_t count;
    while ((count = fread(buffer, 1, sizeof buffer, stdin)) > 0) fwrite(buffer, 1, count, stdout);
  } else if (getchar() != EOF) {
    printf("rank %d got input\n", rank);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
