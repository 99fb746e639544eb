/* The kernel of Saif and Parashar, "Understanding the Behavior and Performance of Non-blocking Communications
 * in MPI": how long each nonblocking call takes, at fixed offsets T0 < T1 < T2 < T3 from a common start,
 * between which both ranks compute. Rank 0 calls MPI_Isend at T0 and MPI_Wait at T1 or T3; rank 1 calls
 * MPI_Irecv at T0 or T1, perhaps MPI_Test at T2, and MPI_Wait at T3. A call blocks if it takes until the
 * other rank enters MPI.
 *
 *   mpirun -n 2 ./nonblocking_probe [--sizes 1K,64K] [--step SECONDS] [--reps N] [--hold]
 */
#include "bench.h"
#include "busy.h"

enum { MOST_REPS = 100 };

struct plan {
  const char* name;
  int irecv, test, wait_receive, wait_send; /* at which T; test: 0 for none */
};

/* Figures 2 and 3 of the paper; figure 4; figure 11; and with a receive that is late. */
static const struct plan plans[] = {
    {"waits-at-T3", 0, 0, 3, 3},      {"test-at-T2", 0, 2, 3, 3},
    {"send-waits-at-T1", 0, 0, 3, 1}, {"test-at-T2,send-waits-at-T1", 0, 2, 3, 1},
    {"receive-at-T1", 1, 0, 3, 3},
};

enum { ISEND, IRECV, TEST, WAIT_SEND, WAIT_RECEIVE, CALLS };

static int hold;

static void compute_until(double time) {
  if (hold && MPI_Wtime() < time) hold_core(time - MPI_Wtime());
  while (MPI_Wtime() < time) busy_units(10);
}

static double sending(const struct plan* plan, void* buffer, long bytes, double start, double step,
                      double* took) {
  MPI_Request request;
  double before = MPI_Wtime();
  MPI_Isend(buffer, (int)bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
  took[ISEND] = MPI_Wtime() - before;
  compute_until(start + plan->wait_send * step);
  before = MPI_Wtime();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  took[WAIT_SEND] = MPI_Wtime() - before;
  return MPI_Wtime();
}

static double receiving(const struct plan* plan, void* buffer, long bytes, double start, double step,
                        double* took) {
  MPI_Request request;
  compute_until(start + plan->irecv * step);
  double before = MPI_Wtime();
  MPI_Irecv(buffer, (int)bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
  took[IRECV] = MPI_Wtime() - before;
  if (plan->test != 0) {
    int flag;
    compute_until(start + plan->test * step);
    before = MPI_Wtime();
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    took[TEST] = MPI_Wtime() - before;
  }
  compute_until(start + plan->wait_receive * step);
  before = MPI_Wtime();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  took[WAIT_RECEIVE] = MPI_Wtime() - before;
  return MPI_Wtime();
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) {
    if (rank == 0) fprintf(stderr, "nonblocking_probe: needs two ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  long sizes[64];
  int count = option_sizes(option_text(argc, argv, "--sizes", "1K,16K,60K,100K,256K,1M"), sizes, 64);
  double step = atof(option_text(argc, argv, "--step", "0.01"));
  int reps = (int)option_number(argc, argv, "--reps", 5);
  hold = option_given(argc, argv, "--hold");
  if (reps > MOST_REPS) reps = MOST_REPS;
  if (rank == 0)
    printf("# probe plan bytes step isend irecv test wait_send wait_receive (medians, seconds)\n");
  for (size_t p = 0; p < sizeof plans / sizeof *plans; p++)
    for (int i = 0; i < count; i++) {
      void* buffer = bench_memory((size_t)sizes[i]);
      double samples[CALLS][MOST_REPS], medians[CALLS], all[CALLS];
      for (int rep = -1; rep < reps; rep++) { /* the first one connects */
        double took[CALLS] = {0};
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        (rank == 0 ? sending : receiving)(&plans[p], buffer, sizes[i], start, step, took);
        for (int call = 0; rep >= 0 && call < CALLS; call++) samples[call][rep] = took[call];
      }
      for (int call = 0; call < CALLS; call++) medians[call] = median_of(samples[call], reps);
      MPI_Reduce(medians, all, CALLS, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
      if (rank == 0)
        printf("probe %s %ld %g %.9f %.9f %.9f %.9f %.9f\n", plans[p].name, sizes[i], step, all[ISEND],
               all[IRECV], all[TEST], all[WAIT_SEND], all[WAIT_RECEIVE]);
      fflush(stdout);
      free(buffer);
    }
  MPI_Finalize();
  return 0;
}
