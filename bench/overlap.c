/* Listing 4 of Nigay et al. (EuroMPI'20): what a runtime overlaps by itself. Per iteration each rank
 * computes, then exchanges messages with four neighbours by nonblocking calls and waits for all of them at
 * once; nothing is computed in between. Either phase can be left out.
 *
 * The ranks are two halves, meant to be two nodes: all four neighbours of a rank are in the other half, so
 * that all messages cross the network. Prints, per round and size, the time of an iteration with computation
 * only, with communication only, and with both; and, with --waits, how long each MPI_Waitall of the last
 * took.
 *
 *   mpirun -n 2V ./overlap --sizes 64K,128K --compute SECONDS [--iterations N] [--rounds N] [--waits]
 * [--hold]
 */
#include "bench.h"
#include "busy.h"

enum { NEIGHBOURS = 4 };

static struct {
  int rank, to[NEIGHBOURS];
  double compute; /* seconds */
  long units;     /* of computation; 0: the core is held instead */
  double skew;    /* seconds by which this rank begins later */
  char* out[NEIGHBOURS];
  char* in[NEIGHBOURS];
} me;

/* All four neighbours of the i-th rank of a half are the i-th rank of the other one, as in a torus of two;
 * or, spread, neighbour k of the i-th rank of the first half is the (i + k)-th of the second, cyclically; or, crossed, all
 * are the one that the other half comes to last if this one is the first to run. */
static void find_neighbours(int size, int spread, int crossed) {
  int half = size / 2;
  for (int k = 0; k < NEIGHBOURS; k++) {
    if (crossed) {
      me.to[k] = size - 1 - me.rank;
      continue;
    }
    int step = spread ? k % half : 0;
    me.to[k] = me.rank < half ? half + (me.rank + step) % half : (me.rank - step) % half;
  }
}

/* Returns how long the wait took. */
static double exchange(long bytes) {
  MPI_Request requests[2 * NEIGHBOURS];
  for (int k = 0; k < NEIGHBOURS; k++)
    MPI_Irecv(me.in[k], (int)bytes, MPI_CHAR, me.to[k], k, MPI_COMM_WORLD, &requests[k]);
  for (int k = 0; k < NEIGHBOURS; k++)
    MPI_Isend(me.out[k], (int)bytes, MPI_CHAR, me.to[k], k, MPI_COMM_WORLD, &requests[NEIGHBOURS + k]);
  double before = MPI_Wtime();
  MPI_Waitall(2 * NEIGHBOURS, requests, MPI_STATUSES_IGNORE);
  return MPI_Wtime() - before;
}

static void work(void) {
  if (me.units > 0) {
    busy_units(me.units);
  } else {
    hold_core(me.compute);
  }
}

/* Seconds per iteration of the slowest rank. waits: one per iteration, if not null. */
static double run(int compute, long bytes, int iterations, double* waits) {
  /* Ranks that share a core begin one after the other: the clock starts before any of them. */
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime(), elapsed, slowest;
  MPI_Barrier(MPI_COMM_WORLD);
  if (compute && me.skew > 0) hold_core(me.skew);
  for (int i = 0; i < iterations; i++) {
    if (compute) work();
    double waited = bytes >= 0 ? exchange(bytes) : 0;
    if (waits != NULL) waits[i] = waited;
  }
  elapsed = MPI_Wtime() - start;
  MPI_Allreduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest / iterations;
}

static void print_waits(int round, long bytes, const double* waits, int iterations, int size) {
  double* all = malloc((size_t)size * (size_t)iterations * sizeof *all);
  MPI_Gather(waits, iterations, MPI_DOUBLE, all, iterations, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (me.rank == 0) {
    printf("waits %d %ld", round, bytes);
    for (int i = 0; i < size * iterations; i++) printf(" %.9f", all[i]);
    printf("\n");
  }
  free(all);
}

int main(int argc, char** argv) {
  int size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long sizes[64];
  int count = option_sizes(option_text(argc, argv, "--sizes", "64K,128K,256K"), sizes, 64);
  int iterations = (int)option_number(argc, argv, "--iterations", 10);
  int rounds = (int)option_number(argc, argv, "--rounds", 3);
  int want_waits = option_given(argc, argv, "--waits");
  me.compute = atof(option_text(argc, argv, "--compute", "0.01"));
  if (size % 2 != 0) {
    if (me.rank == 0) fprintf(stderr, "overlap: needs an even number of ranks, half of them on each node\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  find_neighbours(size, option_given(argc, argv, "--spread"), option_given(argc, argv, "--crossed"));
  /* The first rank of the second half holds up those that share its core. */
  me.skew = me.rank == size / 2 ? atof(option_text(argc, argv, "--skew", "0")) : 0;
  if (!option_given(argc, argv, "--hold")) {
    double rate = me.rank == 0 ? busy_rate() : 0;
    MPI_Bcast(&rate, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    me.units = (long)(me.compute * rate);
  }
  long largest = 0;
  for (int i = 0; i < count; i++) largest = sizes[i] > largest ? sizes[i] : largest;
  for (int k = 0; k < NEIGHBOURS; k++) {
    me.out[k] = bench_memory((size_t)largest);
    me.in[k] = bench_memory((size_t)largest);
  }
  double* waits = malloc((size_t)iterations * sizeof *waits);
  run(0, sizes[0], 1, NULL); /* connects */
  const int half = (iterations + 1) / 2;
  if (me.rank == 0) printf("# overlap round bytes t_comp t_comm t_full\n");
  for (int round = 0; round < rounds; round++) {
    /* A machine that is shared computes faster and slower by the minute: what T_full is compared with is
     * measured before and after it. */
    double before = run(1, -1, half, NULL);
    for (int i = 0; i < count; i++) {
      double t_comm = run(0, sizes[i], half, NULL);
      double t_full = run(1, sizes[i], iterations, want_waits ? waits : NULL);
      double after = run(1, -1, half, NULL);
      double t_comp = (before + after) / 2;
      before = after;
      if (me.rank == 0) printf("overlap %d %ld %.9f %.9f %.9f\n", round, sizes[i], t_comp, t_comm, t_full);
      if (want_waits) print_waits(round, sizes[i], waits, iterations, size);
      fflush(stdout);
    }
  }
  MPI_Finalize();
  return 0;
}
