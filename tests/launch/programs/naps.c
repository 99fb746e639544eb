/* Each rank sleeps argv[1] times for argv[2] microseconds and says when: "RANK began ended". Afterwards all meet. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double began = now();
  for (int i = 0; i < atoi(argv[1]); ++i) usleep((useconds_t)atoi(argv[2]));
  printf("%d %.6f %.6f\n", rank, began, now());
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
