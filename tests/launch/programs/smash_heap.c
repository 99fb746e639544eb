/* smash_heap block|to-the-end|all BYTE: rank 1 overwrites what is on the heap behind a block of its own (its neighbours; all, until it hits the end),
 * or all of the heap, tmpi's own data included. All but for the second then write through a bad pointer. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void overwrite_all(int byte) {
  char line[512];
  unsigned long begin = 0, end = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps) != NULL) {
    if (strstr(line, "[heap]") != NULL) sscanf(line, "%lx-%lx", &begin, &end);
  }
  memset((void*)begin, byte, end - begin); /* the stream is on it, too */
}

int main(int argc, char** argv) {
  const int byte = (int)strtol(argv[2], NULL, 0);
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    volatile char* block = malloc(100);
    if (strcmp(argv[1], "block") == 0) {
      for (int i = 0; i < 200000; ++i) block[i] = (char)byte;
    }
    if (strcmp(argv[1], "to-the-end") == 0) {
      for (long i = 0;; ++i) block[i] = (char)byte;
    }
    if (strcmp(argv[1], "all") == 0) overwrite_all(byte);
    *(volatile int*)8 = 1;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
