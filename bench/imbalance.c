/* Steps of work that is unevenly divided among the ranks, with an allreduce at the end of each. Prints how long they took, and how long with a
 * perfect assignment of ranks to workers: for each step the measured loads, the longest first, each to the worker that has least.
 *
 *   imbalance KIND [--steps N] [--units N]     KIND: halves (the first half of the ranks has nine times the work), slow (one rank has ten
 *                                              times the work), jump (another quarter of the ranks has nine times the work every ten steps),
 *                                              even */
#include <mpi.h>
#include <mpix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "busy.h"

static long units_of(const char* kind, int rank, int ranks, int step, long units) {
  if (strcmp(kind, "halves") == 0) return rank < ranks / 2 ? 9 * units : units;
  if (strcmp(kind, "slow") == 0) return rank == 0 ? 10 * units : units;
  if (strcmp(kind, "jump") == 0) {
    unsigned hash = (unsigned)(step / 10 + 1) * 2654435761u;
    hash ^= hash >> 15;
    return (unsigned)(rank * 4 / ranks) == hash % 4 ? 9 * units : units;
  }
  return units;
}

static int descending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? 1 : x > y ? -1 : 0;
}

/* The longest first, each to the worker that has least. */
static double perfect_step(double* loads, int ranks, int workers) {
  double sums[1024] = {0}, most = 0;
  qsort(loads, (size_t)ranks, sizeof *loads, descending);
  for (int i = 0; i < ranks; i++) {
    int least = 0;
    for (int w = 1; w < workers; w++)
      if (sums[w] < sums[least]) least = w;
    sums[least] += loads[i];
  }
  for (int w = 0; w < workers; w++)
    if (sums[w] > most) most = sums[w];
  return most;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, workers;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPIX_Get_worker(NULL, &workers);
  int steps = 60;
  long units = 1000;
  for (int i = 2; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--steps") == 0) steps = atoi(argv[i + 1]);
    if (strcmp(argv[i], "--units") == 0) units = atol(argv[i + 1]);
  }
  if (argc < 2 || steps < 1 || units < 1 || workers > 1024) {
    if (rank == 0) fprintf(stderr, "usage: imbalance halves|slow|jump|even [--steps N] [--units N]\n");
    MPI_Finalize();
    return 2;
  }
  double* mine = malloc((size_t)steps * sizeof *mine);
  double* all = malloc((size_t)steps * (size_t)ranks * sizeof *all);
  double* loads = malloc((size_t)ranks * sizeof *loads);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int step = 0; step < steps; step++) {
    const double before = MPIX_Rtime();
    busy_units(units_of(argv[1], rank, ranks, step, units));
    mine[step] = MPIX_Rtime() - before;
    double sum;
    MPI_Allreduce(&mine[step], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  const double seconds = MPI_Wtime() - start;
  MPI_Gather(mine, steps, MPI_DOUBLE, all, steps, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    double perfect = 0;
    for (int step = 0; step < steps; step++) {
      for (int i = 0; i < ranks; i++) loads[i] = all[i * steps + step];
      perfect += perfect_step(loads, ranks, workers);
    }
    printf("imbalance: %s on %d ranks: %.4f s, perfect %.4f s\n", argv[1], ranks, seconds, perfect);
  }
  free(mine);
  free(all);
  free(loads);
  MPI_Finalize();
  return 0;
}
