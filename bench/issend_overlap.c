/* How much computation an MPI_Issend lets the sender do meanwhile, estimated in the manner of MPI-CC-overlap
 * (CARV-ICS-FORTH), which follows Rashti and Afsahi (HOTI'07): the pure communication time of MPI_Issend and
 * MPI_Wait, once with one barrier and two readings of the clock around all iterations and once with them in
 * each iteration; then computation between the two calls, growing in tenths of that time, until the whole
 * takes longer than the threshold allows. The estimate is the largest share that did not: 0 no overlap, 1 all
 * of it.
 *
 *   mpirun -n 2 ./issend_overlap [--sizes 1K,1M] [--iterations N] [--threshold PERCENT] [--hold]
 */
#include "bench.h"
#include "busy.h"

static int rank, hold;
static double rate; /* units of work per second */
static char* buffer;

static void work(double seconds) {
  if (seconds <= 0) return;
  if (hold) {
    hold_core(seconds);
  } else {
    busy_units((long)(seconds * rate));
  }
}

static void send_and_compute(long bytes, double compute) {
  if (rank == 0) {
    MPI_Request request;
    MPI_Issend(buffer, (int)bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
    work(compute);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(buffer, (int)bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/* Seconds per message at the sender, one clock around all. */
static double single_timer(long bytes, int iterations) {
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  for (int i = 0; i < iterations; i++) send_and_compute(bytes, 0);
  return (MPI_Wtime() - start) / iterations;
}

/* The median over iterations, each with a barrier before. */
static double many_timers(long bytes, double compute, int iterations) {
  double* took = malloc((size_t)iterations * sizeof *took);
  for (int i = 0; i < iterations; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    send_and_compute(bytes, compute);
    took[i] = MPI_Wtime() - start;
  }
  double median = median_of(took, iterations);
  free(took);
  MPI_Bcast(&median, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* the sender's decides */
  return median;
}

static double estimate(long bytes, double pure, int iterations, double threshold) {
  double ratio = 0;
  for (int tenth = 1; tenth <= 10; tenth++) {
    double share = tenth / 10.0;
    double total = many_timers(bytes, share * pure, iterations);
    if (total > pure * (1 + threshold)) break;
    ratio = share;
  }
  return ratio;
}

int main(int argc, char** argv) {
  int size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) {
    if (rank == 0) fprintf(stderr, "issend_overlap: needs two ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  long sizes[64];
  int count = option_sizes(option_text(argc, argv, "--sizes", "1K,8K,64K,256K,1M,4M"), sizes, 64);
  int iterations = (int)option_number(argc, argv, "--iterations", 20);
  double threshold = (double)option_number(argc, argv, "--threshold", 10) / 100;
  long largest = 0;
  for (int i = 0; i < count; i++) largest = sizes[i] > largest ? sizes[i] : largest;
  buffer = bench_memory((size_t)largest);
  hold = option_given(argc, argv, "--hold");
  rate = hold ? 0 : busy_rate();
  MPI_Bcast(&rate, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  many_timers(sizes[0], 0, 2); /* connects */
  if (rank == 0) printf("# issend bytes pure_single_timer pure_many_timers overlap (seconds; 0 .. 1)\n");
  for (int i = 0; i < count; i++) {
    double single = single_timer(sizes[i], iterations);
    double pure = many_timers(sizes[i], 0, iterations);
    double ratio = estimate(sizes[i], pure, iterations, threshold);
    if (rank == 0) printf("issend %ld %.9f %.9f %.2f\n", sizes[i], single, pure, ratio);
    fflush(stdout);
  }
  free(buffer);
  MPI_Finalize();
  return 0;
}
