/* One rank (copy_input from RANK, 0 without) copies stdin to stdout; every other reports what it reads (which must be
 * the end of file). copy_input sum: all read it. copy_input ask: rank 0 asks for a line. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 1 && strcmp(argv[1], "sum") == 0) {
    long count = 0, sum = 0;
    for (int c; (c = getchar()) != EOF; count++) sum += c;
    printf("rank %d read %ld bytes, sum %ld\n", rank, count, sum);
  } else if (argc == 2) {
    char name[100] = "";
    if (rank == 0) {
      printf("Name? ");
      fflush(stdout);
      if (!fgets(name, sizeof name, stdin)) return 3;
      printf("hello %s", name);
    }
  } else if (rank == (argc > 2 ? atoi(argv[2]) : 0)) {
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
