/* Three ways in which applications exchange data with the other half of the ranks, meant to be another node:
 *
 *   sweep      in the manner of Kripke: receives are posted, what has been computed before is sent, the next part is
 *              computed, then all is waited for
 *   md         in the manner of MiniMD: neighbours' positions are exchanged while most forces are computed, the rest
 *              after the wait; every tenth step the energy is summed up
 *   exchange   computes, then exchanges; nothing between initiation and wait (Listing 4 of Nigay et al.)
 *   rate       prints how many units of work a core does per second while all compute
 *
 * --share V: the work of one rank is done by V. --rate: units that are a second's work, so that several runs do the same.
 * Prints the seconds that all steps took, and the processor's seconds of computation, summed over the ranks of the
 * busier half: a shared machine may compute faster or slower in the next run.
 *
 *   mpirun -n 2V ./progress_codes --code NAME [--bytes N] [--compute SECONDS] [--steps N] [--share V] [--rate N] [--hold]
 */
#include "bench.h"
#include "busy.h"

enum { MESSAGES = 2 };

static struct {
  int other, steps;
  long bytes;
  double compute, rate; /* rate 0: the core is held */
  char *out[MESSAGES], *in[MESSAGES];
  MPI_Request requests[2 * MESSAGES];
} me;

static double computed; /* processor's seconds */

static double processor_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void work(double share) {
  if (me.rate > 0) {
    double start = processor_clock();
    busy_units((long)(me.compute * share * me.rate) + 1);
    computed += processor_clock() - start;
  } else {
    hold_core(me.compute * share);
  }
}

static void begin(void) {
  for (int k = 0; k < MESSAGES; k++)
    MPI_Irecv(me.in[k], (int)me.bytes, MPI_BYTE, me.other, k, MPI_COMM_WORLD, &me.requests[k]);
  for (int k = 0; k < MESSAGES; k++)
    MPI_Isend(me.out[k], (int)me.bytes, MPI_BYTE, me.other, k, MPI_COMM_WORLD, &me.requests[MESSAGES + k]);
}

static void end(void) {
  MPI_Waitall(2 * MESSAGES, me.requests, MPI_STATUSES_IGNORE);
}

static void step(char code, int number) {
  double energy = number, sum;
  if (code == 'e') work(1);
  begin();
  if (code == 's') work(1);
  if (code == 'm') work(0.9);
  end();
  if (code == 'm') work(0.1);
  if (code == 'm' && number % 10 == 9) MPI_Allreduce(&energy, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Of the slowest rank. */
static void print_rate(int rank) {
  const long units = (long)busy_rate();
  MPI_Barrier(MPI_COMM_WORLD);
  double start = busy_clock(), mine, least;
  busy_units(units);
  mine = (double)units / (busy_clock() - start);
  MPI_Reduce(&mine, &least, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("rate %.0f\n", least);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* code = option_text(argc, argv, "--code", "sweep");
  if (strcmp(code, "rate") == 0) {
    print_rate(rank);
    MPI_Finalize();
    return 0;
  }
  long bytes[1] = {1 << 20}, share = option_number(argc, argv, "--share", 1);
  option_sizes(option_text(argc, argv, "--bytes", "1M"), bytes, 1);
  if (size % 2 != 0 || strchr("sme", code[0]) == NULL || share < 1) {
    if (rank == 0)
      fprintf(
          stderr,
          "progress_codes: needs an even number of ranks, --code sweep, md or exchange, --share 1 or more\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  me.other = (rank + size / 2) % size;
  me.bytes = bytes[0] / share;
  me.steps = (int)option_number(argc, argv, "--steps", 50);
  me.compute = atof(option_text(argc, argv, "--compute", "0.02")) / (double)share;
  for (int k = 0; k < MESSAGES; k++) {
    me.out[k] = bench_memory((size_t)me.bytes);
    me.in[k] = bench_memory((size_t)me.bytes);
  }
  if (!option_given(argc, argv, "--hold")) {
    double rate = atof(option_text(argc, argv, "--rate", "0"));
    if (rank == 0 && rate == 0) rate = busy_rate();
    MPI_Bcast(&rate, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    me.rate = rate;
  }
  /* Connects, by a small message: a profile is of the whole run, so a large one would be in it and not be timed. */
  MPI_Sendrecv(me.out[0], 1, MPI_BYTE, me.other, 0, me.in[0], 1, MPI_BYTE, me.other, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  /* The clock starts between two barriers: ranks of one core may leave the second one late, when the others have done
   * all their steps. */
  double start = MPI_Wtime(), elapsed, slowest;
  MPI_Barrier(MPI_COMM_WORLD);
  /* Nodes that nothing keeps in step. */
  if (rank == size / 2) hold_core(me.compute / 4);
  for (int i = 0; i < me.steps; i++) step(code[0], i);
  elapsed = MPI_Wtime() - start;
  MPI_Allreduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  double halves[2] = {0, 0}, sums[2];
  halves[rank >= size / 2] = computed;
  MPI_Reduce(halves, sums, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("seconds %.6f computed %.6f\n", slowest, sums[0] > sums[1] ? sums[0] : sums[1]);
  MPI_Finalize();
  return 0;
}
