/* Work that is unevenly divided among the ranks. Prints how long it took, and how long with a perfect assignment of ranks to workers, computed
 * afterwards from the measured loads: the longest first, each to the worker that has least; for each step if all ranks meet at its end, else
 * of the whole. Then how three clocks have seen it, largest / mean: MPI_Wtime and MPIX_Rtime of the ranks, MPIX_Ptime of the cores.
 *
 *   imbalance KIND [--steps N] [--units N]
 *
 * KIND, with an allreduce at the end of each step:
 *   halves   the first half of the ranks has nine times the work
 *   slow     one rank has ten times the work
 *   jump     another quarter of the ranks has nine times the work every ten steps; also prints how many steps it took until one was no more
 *            than a quarter longer than the perfect one again
 *   even
 * and without:
 *   stencil  each rank exchanges 8 KiB with both neighbours in each step, one rank has ten times the work
 *   sweep    a pipeline: in each step eight blocks go from the first rank to the last, each rank has more to do with them than the one before
 *   master   the first rank gives out pieces of work, from one to sixteen times N, to whoever asks
 * N units of work are some 50 to 100 ns each (busy.h). */
#include <mpi.h>
#include <mpix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "busy.h"

enum { kMostWorkers = 1024, kBlocks = 8, kHalo = 1024 };

static int rank, ranks, workers, steps = 60;
static long units = 1000;
static double* mine; /* by step: what this rank has run */
static double* took; /* by step: from beginning to end */

/* A number without a pattern. */
static unsigned hashed(unsigned number) {
  number = (number ^ number >> 16) * 2246822507u;
  number = (number ^ number >> 13) * 3266489909u;
  return number ^ number >> 16;
}

static long units_of(const char* kind, int step) {
  if (strcmp(kind, "halves") == 0) return rank < ranks / 2 ? 9 * units : units;
  if (strcmp(kind, "slow") == 0 || strcmp(kind, "stencil") == 0)
    return rank == ranks / 3 ? 10 * units : units;
  if (strcmp(kind, "jump") == 0)
    return (unsigned)(rank * 4 / ranks) == hashed((unsigned)(step / 10 + 1)) % 4 ? 9 * units : units;
  if (strcmp(kind, "sweep") == 0) return (units + 3 * units * rank / ranks) / kBlocks;
  return units;
}

static int descending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? 1 : x > y ? -1 : 0;
}

/* The longest first, each to the worker that has least. */
static double perfect(double* loads) {
  double sums[kMostWorkers] = {0}, most = 0;
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

static void meet(int step) {
  double sum;
  MPI_Allreduce(&mine[step], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void exchange(void) {
  static double out[kHalo], in[2][kHalo];
  MPI_Request requests[4];
  const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  MPI_Irecv(in[0], kHalo, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(in[1], kHalo, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(out, kHalo, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(out, kHalo, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void sweep(const char* kind, int step) {
  double block[16] = {0};
  for (int i = 0; i < kBlocks; i++) {
    if (rank > 0) MPI_Recv(block, 16, MPI_DOUBLE, rank - 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    busy_units(units_of(kind, step));
    if (rank + 1 < ranks) MPI_Send(block, 16, MPI_DOUBLE, rank + 1, i, MPI_COMM_WORLD);
  }
}

/* As many pieces as ranks in a step, all at once; step 0 is the whole. */
static void master(void) {
  int piece = 0, none = 0;
  MPI_Status status;
  if (rank > 0) {
    for (;;) {
      MPI_Sendrecv(&none, 1, MPI_INT, 0, 1, &piece, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (piece < 0) return;
      const unsigned sixteenth = hashed((unsigned)piece + 1) % 16 + 1;
      busy_units(units * (long)sixteenth / 8);
    }
  }
  const int end = -1;
  for (int left = ranks - 1; left > 0;) {
    MPI_Recv(&none, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
    const int more = piece < steps * ranks;
    MPI_Send(more ? &piece : &end, 1, MPI_INT, status.MPI_SOURCE, 2, MPI_COMM_WORLD);
    piece += more;
    left -= !more;
  }
}

static void run(const char* kind, int step) {
  const double start = MPI_Wtime(), before = MPIX_Rtime();
  if (strcmp(kind, "sweep") == 0) {
    sweep(kind, step);
  } else if (strcmp(kind, "master") == 0) {
    if (step == 0) master();
  } else {
    busy_units(units_of(kind, step));
  }
  mine[step] = MPIX_Rtime() - before;
  if (strcmp(kind, "stencil") == 0) {
    exchange();
  } else if (strcmp(kind, "sweep") != 0 && strcmp(kind, "master") != 0) {
    meet(step);
  }
  took[step] = MPI_Wtime() - start;
}

static double imbalance(const double* values, int count, int among) {
  double sum = 0, most = 0;
  for (int i = 0; i < count; i++) {
    sum += values[i];
    if (values[i] > most) most = values[i];
  }
  return sum > 0 ? most * among / sum : 0;
}

/* What ranks say of themselves: their worker, and four clocks. */
static void print_clocks(const double* all) {
  double* by_rank = malloc((size_t)ranks * sizeof *by_rank);
  double cores[kMostWorkers] = {0};
  for (int clock = 0; clock < 2; clock++) {
    for (int i = 0; i < ranks; i++) by_rank[i] = all[4 * i + clock];
    printf(clock == 0 ? "clocks: MPI_Wtime %.3f" : "  MPIX_Rtime %.3f", imbalance(by_rank, ranks, ranks));
  }
  for (int i = 0; i < ranks; i++)
    if (all[4 * i + 2] > cores[(int)all[4 * i + 3]]) cores[(int)all[4 * i + 3]] = all[4 * i + 2];
  printf("  MPIX_Ptime %.3f\n", imbalance(cores, workers, workers));
  free(by_rank);
}

static void print_reaction(const double* best) {
  int jumps = 0, worst = 0, sum = 0;
  double longest = 0;
  for (int first = 10; first + 10 <= steps; first += 10) {
    if (hashed((unsigned)(first / 10)) % 4 == hashed((unsigned)(first / 10 + 1)) % 4)
      continue; /* the same quarter again */
    double time = 0;
    int step = 0;
    while (step < 10 && took[first + step] > 1.25 * best[first + step]) time += took[first + step++];
    jumps++;
    sum += step;
    if (step > worst) worst = step;
    if (time > longest) longest = time;
  }
  if (jumps > 0)
    printf("reaction: mean %.2f steps, worst %d steps, %.1f ms, after %d jumps\n", (double)sum / jumps, worst,
           1e3 * longest, jumps);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPIX_Get_worker(NULL, &workers);
  for (int i = 2; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--steps") == 0) steps = atoi(argv[i + 1]);
    if (strcmp(argv[i], "--units") == 0) units = atol(argv[i + 1]);
  }
  const char* const kind = argc > 1 ? argv[1] : "";
  const char* const kinds[] = {"halves", "slow", "jump", "even", "stencil", "sweep", "master"};
  int known = 0;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) known |= strcmp(kind, kinds[i]) == 0;
  if (!known || steps < 1 || units < 1 || workers > kMostWorkers) {
    if (rank == 0)
      fprintf(stderr,
              "usage: imbalance halves|slow|jump|even|stencil|sweep|master [--steps N] [--units N]\n");
    MPI_Finalize();
    return 2;
  }
  mine = calloc((size_t)steps, sizeof *mine);
  took = calloc((size_t)steps, sizeof *took);
  double* all = malloc((size_t)steps * (size_t)ranks * sizeof *all);
  double* loads = malloc((size_t)ranks * sizeof *loads);
  double* best = calloc((size_t)steps, sizeof *best);
  double* said = malloc(4 * (size_t)ranks * sizeof *said);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime(), began = MPIX_Rtime();
  MPIX_Start_processor_timer();
  for (int step = 0; step < steps; step++) run(kind, step);
  int worker;
  MPIX_Get_worker(&worker, NULL);
  const double own[4] = {MPI_Wtime() - start, MPIX_Rtime() - began, MPIX_Ptime(), worker};
  MPIX_Stop_processor_timer();
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - start;
  MPI_Gather(own, 4, MPI_DOUBLE, said, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Gather(mine, steps, MPI_DOUBLE, all, steps, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    const int whole =
        strcmp(kind, "stencil") == 0 || strcmp(kind, "sweep") == 0 || strcmp(kind, "master") == 0;
    double sum = 0;
    for (int i = 0; i < ranks; i++) loads[i] = 0;
    for (int step = 0; step < steps; step++) {
      for (int i = 0; i < ranks; i++) loads[i] = (whole ? loads[i] : 0) + all[i * steps + step];
      if (!whole) sum += best[step] = perfect(loads);
    }
    if (strcmp(kind, "master") == 0) { /* any rank could have had any piece */
      double total = 0;
      for (int i = 0; i < ranks; i++) total += loads[i];
      for (int i = 0; i < ranks; i++) loads[i] = total / ranks;
    }
    if (whole) sum = perfect(loads);
    printf("imbalance: %s on %d ranks: %.4f s, perfect %.4f s\n", kind, ranks, seconds, sum);
    print_clocks(said);
    if (strcmp(kind, "jump") == 0) print_reaction(best);
  }
  free(mine);
  free(took);
  free(all);
  free(loads);
  free(best);
  free(said);
  MPI_Finalize();
  return 0;
}
