/* Every rank keeps argv[1] files open at the same time. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, wanted = argc > 1 ? atoi(argv[1]) : 0, missing = 0, all = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* files = malloc(sizeof(int) * (size_t)(wanted + 1));
  for (int i = 0; i < wanted; ++i) {
    files[i] = open("/dev/null", O_RDONLY);
    missing += files[i] < 0;
  }
  MPI_Allreduce(&missing, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d missing\n", all);
  for (int i = 0; i < wanted; ++i) close(files[i]);
  free(files);
  MPI_Finalize();
  return 0;
}
