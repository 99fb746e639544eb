/* Rank 0 runs on and on, as argv[1] says, and rank 1, on the same core, would end that.
 *   flag, clock   rank 0 looks at memory that rank 1 writes: only at that; and at the time in between
 *   abort         rank 0 computes for ever, rank 1 calls MPI_Abort with code 7
 *   compute N     all ranks compute N milliseconds, and nobody waits for anybody
 *   state         all compute, with vectors, rounding and errno of their own, for half a second, and meet */
#define _GNU_SOURCE
#include <errno.h>
#include <fenv.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double work[512];

/* Never right, never wrong: what is lost here is seen. */
static double compute(double seed) {
  for (int i = 0; i < 512; ++i) work[i] = seed + i;
  for (int round = 0; round < 40; ++round)
    for (int i = 0; i < 512; ++i) work[i] = work[i] * 0.75 + work[(i + 1) % 512] * 0.25 + 1.0 / (1 + i);
  double sum = 0;
  for (int i = 0; i < 512; ++i) sum += work[i];
  return sum;
}

__attribute__((noinline)) static void wait_for_flag(volatile int* flag) {
  while (*flag == 0) continue;
}

static void keeps_state(int rank) {
  static const int ways[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  fesetround(ways[rank % 4]);
  errno = 100 + rank;
  const double right = compute(rank);
  for (const double end = now() + 0.5; now() < end;) {
    if (compute(rank) != right || errno != 100 + rank || fegetround() != ways[rank % 4]) {
      printf("rank %d has lost something\n", rank);
      fflush(stdout);
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
  }
}

int main(int argc, char** argv) {
  int rank;
  volatile int* flag;
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_allocate_shared(rank == 0 ? sizeof(int) : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &flag, &window);
  MPI_Aint size;
  int unit;
  MPI_Win_shared_query(window, 0, &size, &unit, &flag);
  if (rank == 0) *flag = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(argv[1], "flag") == 0 && rank == 0) wait_for_flag(flag);
  if (strcmp(argv[1], "clock") == 0 && rank == 0)
    for (const double end = now() + 1000; *flag == 0 && now() < end;) continue;
  if (strcmp(argv[1], "abort") == 0 && rank == 0)
    for (volatile double x = 1;; x = x * 0.999 + 1) continue;
  if (strcmp(argv[1], "abort") == 0 && rank == 1) MPI_Abort(MPI_COMM_WORLD, 7);
  if (strcmp(argv[1], "compute") == 0)
    for (const double end = now() + 1e-3 * atof(argv[2]); now() < end;) compute(rank);
  if (strcmp(argv[1], "state") == 0) keeps_state(rank);
  if (rank == 1) *flag = 1;
  MPI_Win_free(&window);
  if (rank == 0) printf("%s: good\n", argv[1]);
  MPI_Finalize();
  return 0;
}
