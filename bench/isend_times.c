/* How long MPI_Isend itself takes while the network of its node is busy: every rank computes a little, posts a message to its
 * counterpart in the other half, and takes the time of that call, while the first rank of each half exchanges large
 * messages all the time, whose data somebody has to move. Prints a histogram of all calls in steps of a factor of two, and of
 * those longer than 64 us in how many the core had been taken away for most of the time: the rest has run itself all the
 * while, in the library or the kernel.
 *
 *   mpirun -n N ./isend_times [--size BYTES] [--large BYTES] [--messages N]
 */
#include "bench.h"
#include "busy.h"

enum { BUCKETS = 32, WINDOW = 16 };

static const double kLong = 64e-6;

static long histogram[BUCKETS];
static double longest;
static struct {
  long calls, taken; /* `taken`: for most of the time the core was somebody else's */
  double seconds, own;
} slow;

/* Of this thread. */
static double cpu_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void note(double seconds, double own) {
  int bucket = 0;
  for (double limit = 125e-9; bucket < BUCKETS - 1 && seconds > limit; limit *= 2) bucket++;
  histogram[bucket]++;
  if (seconds > longest) longest = seconds;
  if (seconds <= kLong) return;
  slow.calls++;
  slow.taken += own < seconds / 2;
  slow.seconds += seconds;
  slow.own += own;
}

/* Exchanges large messages until the others of its half say that they are through. */
static void load(int other, long bytes, MPI_Comm half) {
  char *out = bench_memory((size_t)bytes), *in = bench_memory((size_t)bytes);
  MPI_Request through, large[2];
  int done = 0, both = 0;
  MPI_Ibarrier(half, &through);
  while (!both) {
    int theirs;
    MPI_Irecv(in, (int)bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD, &large[0]);
    MPI_Isend(out, (int)bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD, &large[1]);
    MPI_Waitall(2, large, MPI_STATUSES_IGNORE);
    if (!done) MPI_Test(&through, &done, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&done, 1, MPI_INT, other, 2, &theirs, 1, MPI_INT, other, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    both = done && theirs;
  }
  free(out);
  free(in);
}

static void post(int other, long bytes, int messages, MPI_Comm half) {
  char *out = bench_memory((size_t)bytes), *in = bench_memory((size_t)bytes * WINDOW);
  MPI_Request requests[2 * WINDOW], through;
  for (int sent = 0; sent < messages; sent += WINDOW) {
    for (int i = 0; i < WINDOW; i++)
      MPI_Irecv(in + i * bytes, (int)bytes, MPI_BYTE, other, 3, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < WINDOW; i++) {
      busy_units(20);
      double own = cpu_clock(), before = MPI_Wtime();
      MPI_Isend(out, (int)bytes, MPI_BYTE, other, 3, MPI_COMM_WORLD, &requests[WINDOW + i]);
      double taken = MPI_Wtime() - before;
      note(taken, cpu_clock() - own);
    }
    MPI_Waitall(2 * WINDOW, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Ibarrier(half, &through);
  MPI_Wait(&through, MPI_STATUS_IGNORE);
  free(out);
  free(in);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long sizes[1] = {1024}, large[1] = {1 << 20};
  option_sizes(option_text(argc, argv, "--size", "1K"), sizes, 1);
  option_sizes(option_text(argc, argv, "--large", "1M"), large, 1);
  int messages = (int)option_number(argc, argv, "--messages", 20000);
  if (size < 4 || size % 2 != 0) {
    if (rank == 0) fprintf(stderr, "isend_times: needs an even number of ranks, four at least\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2, rank, &half);
  int other = (rank + size / 2) % size;
  if (rank % (size / 2) == 0)
    load(other, large[0], half);
  else
    post(other, sizes[0], messages, half);
  long sum[BUCKETS];
  double most;
  MPI_Reduce(histogram, sum, BUCKETS, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&longest, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  double mine[4] = {(double)slow.calls, (double)slow.taken, slow.seconds, slow.own}, all[4];
  MPI_Reduce(mine, all, 4, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("# isend up_to_ns calls\n");
    double limit = 125;
    for (int i = 0; i < BUCKETS; i++, limit *= 2)
      if (sum[i] > 0) printf("isend %.0f %ld\n", limit, sum[i]);
    printf("longest %.0f\n", 1e9 * most);
    printf("slow calls %.0f core_taken %.0f us %.1f own_us %.1f\n", all[0], all[1], 1e6 * all[2],
           1e6 * all[3]);
  }
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
