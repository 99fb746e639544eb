/* Prints a line per rank, and from rank 0 the bytes of image data that the node process has written to, per
 * rank. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static long dirty_image_data(void) {
  char line[4096], key[64];
  long kilobytes, sum = 0;
  int image = 0;
  FILE* file = fopen("/proc/self/smaps", "r");
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "%63s %ld kB", key, &kilobytes) != 2 || strchr(key, '-')) {
      if (strchr(key, '-')) image = strstr(line, "memfd:tmpi-image") != NULL;
    } else if (image && strcmp(key, "Private_Dirty:") == 0) {
      sum += kilobytes * 1024;
    }
  }
  fclose(file);
  return sum;
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  printf("rank %d\n", rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("dirty %ld\n", dirty_image_data() / size);
  MPI_Finalize();
  return 0;
}
