/* stream: windows of nonblocking messages between two ranks, one way and both ways, as in osu_bw and osu_bibw:
 * one buffer for all messages of a window; one way, the receiver answers each window with a message.
 */
#include "bench.h"

enum { kWindow = 64, kMaxBatches = 1000, kMaxSizes = 32, kAnswer = 4 };
static const double kComputing = 1e-3; /* seconds */

static void usage(void) {
  printf(
      "usage: stream [--sizes LIST] [--reps N] [--batches N]\n"
      "  --sizes LIST   sizes of a message (default 1,8,16,32,64,128,256,1K,4K)\n"
      "  --reps N       windows of 64 messages of a batch (default 100)\n"
      "  --batches N    batches per size (default 15, after two that do not count)\n"
      "  --computing N  before each size, N messages both ways with computation between start and wait,\n"
      "                 which raise an eager limit that adapts (default 0)\n");
}

static void post(int receive, char* buffer, int bytes, int peer, MPI_Request* requests) {
  for (int i = 0; i < kWindow; i++) {
    if (receive)
      MPI_Irecv(buffer, bytes, MPI_BYTE, peer, 100, MPI_COMM_WORLD, &requests[i]);
    else
      MPI_Isend(buffer, bytes, MPI_BYTE, peer, 100, MPI_COMM_WORLD, &requests[i]);
  }
}

static void one_way(int rank, char* out, char* in, int bytes, long reps) {
  MPI_Request requests[kWindow];
  char answer[kAnswer] = {0};
  for (long r = 0; r < reps; r++) {
    post(rank == 1, rank == 1 ? in : out, bytes, 1 - rank, requests);
    MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
    if (rank == 0)
      MPI_Recv(answer, kAnswer, MPI_BYTE, 1, 101, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
      MPI_Send(answer, kAnswer, MPI_BYTE, 0, 101, MPI_COMM_WORLD);
  }
}

static void both_ways(int rank, char* out, char* in, int bytes, long reps) {
  MPI_Request sends[kWindow], receives[kWindow];
  for (long r = 0; r < reps; r++) {
    post(1, in, bytes, 1 - rank, receives);
    post(0, out, bytes, 1 - rank, sends);
    MPI_Waitall(kWindow, sends, MPI_STATUSES_IGNORE);
    MPI_Waitall(kWindow, receives, MPI_STATUSES_IGNORE);
  }
}

/* What --eager-limit dynamic takes for a program that computes and wants its messages to go meanwhile. */
static void compute_between(int rank, char* out, char* in, int bytes, long messages) {
  for (long m = 0; m < messages; m++) {
    MPI_Request requests[2];
    MPI_Irecv(in, bytes, MPI_BYTE, 1 - rank, 102, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, bytes, MPI_BYTE, 1 - rank, 102, MPI_COMM_WORLD, &requests[1]);
    const double end = MPI_Wtime() + kComputing;
    while (MPI_Wtime() < end) continue;
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
}

/* MB/s of one batch, all ranks alike. */
static double batch(int ways, int rank, char* out, char* in, int bytes, long reps) {
  double elapsed, slowest;
  MPI_Barrier(MPI_COMM_WORLD);
  elapsed = MPI_Wtime();
  if (ways == 1)
    one_way(rank, out, in, bytes, reps);
  else
    both_ways(rank, out, in, bytes, reps);
  elapsed = MPI_Wtime() - elapsed;
  MPI_Allreduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return (double)ways * kWindow * (double)reps * bytes / slowest * 1e-6;
}

int main(int argc, char** argv) {
  int rank, size;
  static double rate[kMaxBatches];
  long sizes[kMaxSizes];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long reps = option_number(argc, argv, "--reps", 100);
  int batches = (int)option_number(argc, argv, "--batches", 15);
  long computing = option_number(argc, argv, "--computing", 0);
  int count =
      option_sizes(option_text(argc, argv, "--sizes", "1,8,16,32,64,128,256,1K,4K"), sizes, kMaxSizes);
  int wrong = size != 2 || batches < 1 || batches > kMaxBatches || count < 1;
  if (option_given(argc, argv, "--help") || wrong) {
    if (rank == 0) usage();
    if (rank == 0 && wrong) fprintf(stderr, "stream: needs two ranks\n");
    MPI_Finalize();
    return wrong ? 2 : 0;
  }
  if (rank == 0) printf("# name ways bytes median_MB/s worst_MB/s best_MB/s\n");
  for (int ways = 1; ways <= 2; ways++) {
    for (int s = 0; s < count; s++) {
      char *out = bench_memory((size_t)sizes[s]), *in = bench_memory((size_t)sizes[s]);
      compute_between(rank, out, in, (int)sizes[s], computing);
      for (int b = -2; b < batches; b++) {
        double done = batch(ways, rank, out, in, (int)sizes[s], reps);
        if (b >= 0) rate[b] = done;
      }
      double median = median_of(rate, batches);
      if (rank == 0)
        printf("stream %d %ld %.2f %.2f %.2f\n", ways, sizes[s], median, rate[0], rate[batches - 1]);
      free(out);
      free(in);
    }
  }
  MPI_Finalize();
  return 0;
}
