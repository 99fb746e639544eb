/* message_rate: small messages per second with many outstanding.
 *
 * The even ranks send to the next odd rank: a window of nonblocking sends, waited for together, and one
 * message back when the receiver has got them all. With more than two ranks all pairs run at the same time
 * and the sum is reported.
 */
#include "bench.h"

enum { kMaxWindow = 1024, kMaxBatches = 1000 };

static void usage(void) {
  printf(
      "usage: message_rate [--bytes N] [--window N] [--reps N] [--batches N]\n"
      "  --bytes N      size of a message (default 8)\n"
      "  --window N     messages outstanding (default 64)\n"
      "  --reps N       windows of a batch (default 300)\n"
      "  --batches N    batches (default 15, after two that do not count)\n");
}

static void windows(int rank, int bytes, int window, long reps, char* buffer) {
  MPI_Request requests[kMaxWindow];
  int peer = rank ^ 1;
  for (long r = 0; r < reps; r++) {
    for (int i = 0; i < window; i++) {
      char* place = buffer + (size_t)i * (size_t)bytes;
      if (rank % 2 == 0) {
        MPI_Isend(place, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[i]);
      } else {
        MPI_Irecv(place, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[i]);
      }
    }
    MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
    if (rank % 2 == 0) {
      MPI_Recv(NULL, 0, MPI_BYTE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Send(NULL, 0, MPI_BYTE, peer, 2, MPI_COMM_WORLD);
    }
  }
}

int main(int argc, char** argv) {
  int rank, size;
  static double rate[kMaxBatches];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int bytes = (int)option_number(argc, argv, "--bytes", 8),
      window = (int)option_number(argc, argv, "--window", 64);
  int batches = (int)option_number(argc, argv, "--batches", 15);
  long reps = option_number(argc, argv, "--reps", 300);
  int wrong =
      size % 2 != 0 || window < 1 || window > kMaxWindow || batches < 1 || batches > kMaxBatches || bytes < 0;
  if (option_given(argc, argv, "--help") || wrong) {
    if (rank == 0) usage();
    if (rank == 0 && wrong)
      fprintf(stderr, "message_rate: needs an even number of ranks, a window of 1 to %d\n", kMaxWindow);
    MPI_Finalize();
    return wrong ? 2 : 0;
  }

  char* buffer = bench_memory((size_t)bytes * (size_t)window);
  for (int b = -2; b < batches; b++) {
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime(), elapsed, slowest;
    windows(rank, bytes, window, reps, buffer);
    elapsed = MPI_Wtime() - start;
    MPI_Allreduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (b >= 0) rate[b] = (double)reps * window * (size / 2) / slowest * 1e-6;
  }
  if (rank == 0) {
    double median = median_of(rate, batches);
    printf("# name bytes window median_Mmsg/s best_Mmsg/s\nmessage_rate %d %d %.3f %.3f\n", bytes, window,
           median, rate[batches - 1]);
  }
  free(buffer);
  MPI_Finalize();
  return 0;
}
