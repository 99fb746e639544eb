/* demo_overlap: what virtualization does to the time a rank waits.
 *
 * A ring of ranks shares a fixed number of units of work. In every step a rank computes its units (a few of
 * them, other ones in each step, are far dearer) and then exchanges a value with both neighbours by blocking
 * calls. No rank overlaps anything by itself. With one rank per core, a core is idle while its rank waits for
 * a neighbour that got the dear units; with several ranks per core another rank runs in that time. The work,
 * and the result, are the same for any number of ranks.
 *
 *   mpirun -n 2 ./demo_overlap        compare with        tmpirun -n 6 --vratio 3 ./demo_overlap
 *
 * Reported per rank: time spent computing (busy) and time spent in the exchange by MPI_Wtime; and the share
 * of the cores' time that was spent computing. Where the MPI library offers MPIX_Rtime, the time in the
 * exchange by that clock is shown too: it excludes the time in which the rank was suspended.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__has_include)
#if __has_include(<mpix.h>)
#include <mpix.h> /* tmpi's extensions */
#endif
#endif

struct options {
  int units, steps, cores, quiet;
  long work; /* rounds of the kernel in a cheap unit */
};

/* What a rank measured, in seconds. */
struct measured {
  double busy, exchange, exchange_running;
};

static void usage(const char* program) {
  printf(
      "usage: %s [--units N] [--steps N] [--work N] [--cores N] [--quiet]\n"
      "  --units N    units of work in a step, over all ranks (default 24)\n"
      "  --steps N    steps (default 60)\n"
      "  --work N     rounds of the kernel in a cheap unit (default 60000, about 0.1 ms)\n"
      "  --cores N    cores that the job uses, for the figure of their use (default: those of the machine)\n"
      "  --quiet      only the sum, not the table of ranks\n",
      program);
}

static int parse(int argc, char** argv, int rank, struct options* options) {
  *options = (struct options){24, 60, (int)sysconf(_SC_NPROCESSORS_ONLN), 0, 60000};
  for (int i = 1; i < argc; i++) {
    const char* value = i + 1 < argc ? argv[i + 1] : NULL;
    if (strcmp(argv[i], "--quiet") == 0) {
      options->quiet = 1;
      continue;
    }
    if (value != NULL && strcmp(argv[i], "--units") == 0) {
      options->units = atoi(value);
    } else if (value != NULL && strcmp(argv[i], "--steps") == 0) {
      options->steps = atoi(value);
    } else if (value != NULL && strcmp(argv[i], "--cores") == 0) {
      options->cores = atoi(value);
    } else if (value != NULL && strcmp(argv[i], "--work") == 0) {
      options->work = atol(value);
    } else {
      if (rank == 0) usage(argv[0]);
      return strcmp(argv[i], "--help") == 0 ? 0 : 2;
    }
    i++;
  }
  if (options->units < 1 || options->steps < 1 || options->cores < 1 || options->work < 1) {
    if (rank == 0) fprintf(stderr, "%s: every number must be positive\n", argv[0]);
    return 2;
  }
  return -1;
}

/* The time by a clock that stands still while the rank is suspended; 0 where the library has none. */
static double running_time(void) {
#ifdef MPIX_HAVE_RTIME
  return MPIX_Rtime();
#else
  return 0;
#endif
}

/* Mixes a step and a unit into a number that looks random and is the same on every machine. */
static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* One unit: a dependent chain of operations, twenty times longer for one unit in twelve. */
static uint64_t compute_unit(const struct options* options, int step, int unit) {
  uint64_t x = mix((uint64_t)step * 1000003u + (uint64_t)unit + 1);
  long rounds = x % 12 == 0 ? 20 * options->work : options->work;
  for (long i = 0; i < rounds; i++) x = x * 6364136223846793005u + 1442695040888963407u;
  return x;
}

/* All steps of one rank; returns the checksum of its units. */
static uint64_t run(const struct options* options, int rank, int size, struct measured* measured) {
  int first = (int)((long)options->units * rank / size),
      last = (int)((long)options->units * (rank + 1) / size);
  int left = (rank + size - 1) % size, right = (rank + 1) % size;
  uint64_t sum = 0;
  memset(measured, 0, sizeof *measured);
  for (int step = 0; step < options->steps; step++) {
    double start = MPI_Wtime();
    for (int unit = first; unit < last; unit++) sum += compute_unit(options, step, unit);
    double computed = MPI_Wtime(), running = running_time();
    int mine = step, from_left = -1, from_right = -1;
    MPI_Sendrecv(&mine, 1, MPI_INT, right, 0, &from_left, 1, MPI_INT, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&mine, 1, MPI_INT, left, 1, &from_right, 1, MPI_INT, right, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (from_left != step || from_right != step) {
      fprintf(stderr, "demo_overlap: rank %d got the value of another step\n", rank);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    measured->busy += computed - start;
    measured->exchange += MPI_Wtime() - computed;
    measured->exchange_running += running_time() - running;
  }
  return sum;
}

static void print_table(const struct measured* all, int size) {
  int shown = size <= 32 ? size : 32;
  printf(" rank     busy s   exchange s (MPI_Wtime)%s\n",
         running_time() > 0 ? "   exchange s (MPIX_Rtime)" : "");
  for (int i = 0; i < shown; i++) {
    printf("%5d  %9.4f  %23.4f", i, all[i].busy, all[i].exchange);
    if (running_time() > 0) printf("  %24.4f", all[i].exchange_running);
    printf("\n");
  }
  if (shown < size) printf("  ... (%d ranks)\n", size);
}

int main(int argc, char** argv) {
  struct options options;
  struct measured measured;
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int code = parse(argc, argv, rank, &options);
  if (code >= 0) {
    MPI_Finalize();
    return code;
  }

  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  uint64_t sum = run(&options, rank, size, &measured), total = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  double elapsed = MPI_Wtime() - start;

  struct measured* all = rank == 0 ? malloc((size_t)size * sizeof *all) : NULL;
  MPI_Gather(&measured, 3, MPI_DOUBLE, all, 3, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Reduce(&sum, &total, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    double busy = 0;
    for (int i = 0; i < size; i++) busy += all[i].busy;
    if (!options.quiet) print_table(all, size);
    printf(
        "demo_overlap: %d ranks: elapsed %.4f s by MPI_Wtime, computing %.4f s on %d cores: the cores "
        "computed %.0f %% of the time\n",
        size, elapsed, busy, options.cores, 100 * busy / (elapsed * options.cores));
    printf("result checksum %llu\n", (unsigned long long)total);
    free(all);
  }
  MPI_Finalize();
  return 0;
}
