/* A program that knows MPIX_Rtime by its name only, as a library does that is opened late: no clock runs
 * until the first call, and differences are right from then on. */
#include "../mpi/check.h"

#include <dlfcn.h>

int main(int argc, char** argv) {
  double (*rtime)(void) = NULL;
  *(void**)&rtime = dlsym(RTLD_DEFAULT, "MPIX_Rtime");
  CHECK(rtime != NULL);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  double start = MPI_Wtime();
  while (MPI_Wtime() - start < 0.02) {
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) CHECK(rtime() < 0.02); /* nothing was metered before */
  MPI_Barrier(MPI_COMM_WORLD);
  double wall =
      MPI_Wtime(); /* before and, below, after the other one: what passes between the two is in it */
  double running = rtime();
  for (int i = 0; i < 3; i++) {
    start = MPI_Wtime();
    while (MPI_Wtime() - start < 0.002) {
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  running = rtime() - running;
  wall = MPI_Wtime() - wall;
  CHECK(running <= wall + 1e-7);
  CHECK(running >= 0.006 - 1e-7);
  /* One worker: the ranks' times add up to no more than the whole. */
  double sum = 0, longest = 0;
  MPI_Reduce(&running, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&wall, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (world_rank == 0) CHECK(sum <= longest * 1.5);
  MPI_Finalize();
  return 0;
}
