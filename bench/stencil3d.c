/* The 3-D stencil of Subramoni et al., "Designing Dynamic and Adaptive MPI Point-to-Point Communication
 * Protocols for Efficient Overlap of Computation and Communication" (ISC'17): each rank exchanges a message
 * with each of its six neighbours, all receives posted first, then all sends, one MPI_Waitall, and an
 * MPI_Allreduce at the end of the step. First without computation (pure communication), then with as much
 * computation between initiation and wait as that took.
 *
 * Prints per size: pure communication, computation, overall time of a step, overlap in percent of the
 * communication, and how long initiation and wait took in the run with computation.
 *
 *   mpirun -n N ./stencil3d [--sizes 16K,128K] [--steps N] [--rounds N] [--hold]
 */
#include "bench.h"
#include "busy.h"

enum { NEIGHBOURS = 6 };

static struct {
  MPI_Comm grid;
  int neighbour[NEIGHBOURS];
  char* out[NEIGHBOURS];
  char* in[NEIGHBOURS];
} me;

static int hold;
static double rate; /* units of work per second */

static void work(double seconds) {
  if (seconds <= 0) return;
  if (hold) {
    hold_core(seconds);
  } else {
    busy_units((long)(seconds * rate) + 1);
  }
}

struct times {
  double overall, initiation, wait;
};

static void make_grid(int size) {
  int dims[3] = {0, 0, 0}, periods[3] = {1, 1, 1};
  MPI_Dims_create(size, 3, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &me.grid);
  for (int d = 0; d < 3; d++) MPI_Cart_shift(me.grid, d, 1, &me.neighbour[2 * d], &me.neighbour[2 * d + 1]);
}

/* Seconds per step, of the slowest rank; initiation and wait: means over steps and ranks. */
static struct times run(long bytes, double compute, int steps) {
  double sum[2] = {0, 0}, all[2], boundary = 0, global, elapsed, slowest;
  int size;
  MPI_Comm_size(me.grid, &size);
  /* Ranks that share a core begin one after the other: the clock starts before any of them. */
  MPI_Barrier(me.grid);
  double first = MPI_Wtime();
  MPI_Barrier(me.grid);
  for (int step = 0; step < steps; step++) {
    MPI_Request requests[2 * NEIGHBOURS];
    double start = MPI_Wtime();
    /* What goes out in direction k comes in from the opposite one. */
    for (int k = 0; k < NEIGHBOURS; k++)
      MPI_Irecv(me.in[k], (int)bytes, MPI_CHAR, me.neighbour[k], k ^ 1, me.grid, &requests[k]);
    for (int k = 0; k < NEIGHBOURS; k++)
      MPI_Isend(me.out[k], (int)bytes, MPI_CHAR, me.neighbour[k], k, me.grid, &requests[NEIGHBOURS + k]);
    sum[0] += MPI_Wtime() - start;
    work(compute);
    double computed = MPI_Wtime();
    MPI_Waitall(2 * NEIGHBOURS, requests, MPI_STATUSES_IGNORE);
    sum[1] += MPI_Wtime() - computed;
    MPI_Allreduce(&boundary, &global, 1, MPI_DOUBLE, MPI_SUM, me.grid);
  }
  elapsed = MPI_Wtime() - first;
  MPI_Allreduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, me.grid);
  MPI_Allreduce(sum, all, 2, MPI_DOUBLE, MPI_SUM, me.grid);
  return (struct times){slowest / steps, all[0] / steps / size, all[1] / steps / size};
}

/* The same without communication: ranks that share a core take it one after the other. */
static double time_of(double compute, int steps) {
  double elapsed, slowest;
  MPI_Barrier(me.grid);
  double start = MPI_Wtime();
  MPI_Barrier(me.grid);
  for (int i = 0; i < steps; i++) work(compute);
  elapsed = MPI_Wtime() - start;
  MPI_Allreduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, me.grid);
  return slowest / steps;
}

/* So much work per rank that the computation of all ranks takes as long as their communication. */
static double as_long_as(double seconds, int steps) {
  double compute = seconds;
  for (int i = 0; i < 2; i++) compute *= seconds / time_of(compute, steps);
  MPI_Bcast(&compute, 1, MPI_DOUBLE, 0, me.grid);
  return compute;
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  make_grid(size);
  long sizes[64];
  int count = option_sizes(option_text(argc, argv, "--sizes", "4K,16K,64K,128K,256K"), sizes, 64);
  int steps = (int)option_number(argc, argv, "--steps", 10);
  int rounds = (int)option_number(argc, argv, "--rounds", 3);
  hold = option_given(argc, argv, "--hold");
  rate = rank == 0 && !hold ? busy_rate() : 0;
  MPI_Bcast(&rate, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  long largest = 0;
  for (int i = 0; i < count; i++) largest = sizes[i] > largest ? sizes[i] : largest;
  for (int k = 0; k < NEIGHBOURS; k++) {
    me.out[k] = bench_memory((size_t)largest);
    me.in[k] = bench_memory((size_t)largest);
  }
  run(sizes[0], 0, 1); /* connects */
  if (rank == 0)
    printf("# stencil3d round bytes communication computation overall overlap%% initiation wait\n");
  for (int round = 0; round < rounds; round++)
    for (int i = 0; i < count; i++) {
      struct times pure = run(sizes[i], 0, steps);
      double compute = as_long_as(pure.overall, steps);
      /* Before and after: a machine that is shared computes faster and slower by the minute. */
      double before = time_of(compute, steps);
      struct times both = run(sizes[i], compute, steps);
      double computation = (before + time_of(compute, steps)) / 2;
      double overlap = 100 * (1 - (both.overall - computation) / pure.overall);
      overlap = overlap < 0 ? 0 : overlap > 100 ? 100 : overlap;
      if (rank == 0)
        printf("stencil3d %d %ld %.9f %.9f %.9f %.1f %.9f %.9f\n", round, sizes[i], pure.overall, computation,
               both.overall, overlap, both.initiation, both.wait);
      fflush(stdout);
    }
  MPI_Comm_free(&me.grid);
  MPI_Finalize();
  return 0;
}
