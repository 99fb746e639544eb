/* file_waits MODE PATH: the ranks of one node wait for those of the other in a file operation, for ever. Those of the node
 * with rank 0 compute if it is its shared pointer that is waited for, else the others. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static volatile double sum;

static void compute(void) {
  for (;;) sum += 1;
}

int main(int argc, char** argv) {
  const char* mode = argv[1];
  static char block[100000];
  int rank, ranks;
  MPI_File file;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_Barrier(MPI_COMM_WORLD);
  const int first = rank < ranks / 2;
  printf("rank %d is here\n", rank);
  fflush(stdout);
  if (strcmp(mode, "shared") == 0 ? first : !first) compute();
  if (strcmp(mode, "shared") == 0) {
    MPI_File_write_shared(file, block, 10, MPI_CHAR, MPI_STATUS_IGNORE);
  } else if (strcmp(mode, "ordered") == 0) {
    MPI_File_write_ordered(file, block, 10, MPI_CHAR, MPI_STATUS_IGNORE);
  } else if (strcmp(mode, "together") == 0) {
    MPI_File_write_at_all(file, rank, block, sizeof block, MPI_CHAR, MPI_STATUS_IGNORE);
  } else if (strcmp(mode, "request") == 0) {
    MPI_File_iread_at_all(file, rank, block, sizeof block, MPI_CHAR, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (strcmp(mode, "close") == 0) {
    MPI_File_close(&file);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
