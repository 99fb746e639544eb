/* pingpong: latency and bandwidth between two ranks.
 *
 * One rank sends, the other sends back; half of a round trip is the time of one message. Batches of round
 * trips alternate with batches of memcpy between buffers of the same size and number (four: as many as the
 * two ranks use; two with --computing), so that a message can be compared with the one copy that it needs at least. Median and
 * minimum of the batches are printed; the ratio is the median of the batches' ratios.
 *
 * With --computing the second rank only receives, and computes while the first one sends: what is timed is the send.
 */
#include "bench.h"
#include "busy.h"

enum { kMaxSizes = 32, kMaxBatches = 1000 };

struct pair {
  int rank, first, second; /* this rank, the one that starts, the one that answers */
  char *send, *recv, *other_send, *other_recv;
};

static void usage(void) {
  printf(
      "usage: pingpong [options]\n"
      "  --sizes LIST     bytes of a message, e.g. 8,64K,1M (default 8 to 4M in powers of 8)\n"
      "  --reps N         round trips of a batch (default: so that a batch moves about 8 MiB, 10 to 2000)\n"
      "  --batches N      batches (default 15)\n"
      "  --warmup N       batches that do not count (default 2)\n"
      "  --pair A,B       the two ranks (default 0,1)\n"
      "  --computing      one way, to a rank that has posted its receive and computes\n"
      "  --no-memcpy      do not measure memcpy (needed where the waiting rank would disturb it by spinning "
      "on the same core)\n");
}

/* Seconds of one message, one way. */
static double round_trips(const struct pair* pair, int bytes, long reps) {
  int peer = pair->rank == pair->first ? pair->second : pair->first;
  double start = MPI_Wtime();
  for (long i = 0; i < reps; i++) {
    if (pair->rank == pair->first) {
      MPI_Send(pair->send, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
      MPI_Recv(pair->recv, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(pair->recv, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(pair->send, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    }
  }
  return (MPI_Wtime() - start) / (double)(2 * reps);
}

static void compute_for(double seconds) {
  double end = busy_clock() + seconds;
  while (busy_clock() < end) busy_units(1);
}

/* Seconds of a send to a rank that computes meanwhile. */
static double sends(const struct pair* pair, int bytes, long reps) {
  double sum = 0;
  for (long i = 0; i < reps; i++) {
    if (pair->rank == pair->first) {
      MPI_Recv(NULL, 0, MPI_BYTE, pair->second, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      compute_for(2e-6);
      double start = MPI_Wtime();
      MPI_Send(pair->send, bytes, MPI_BYTE, pair->second, 1, MPI_COMM_WORLD);
      sum += MPI_Wtime() - start;
    } else {
      MPI_Request request;
      MPI_Irecv(pair->recv, bytes, MPI_BYTE, pair->first, 1, MPI_COMM_WORLD, &request);
      MPI_Send(NULL, 0, MPI_BYTE, pair->first, 2, MPI_COMM_WORLD);
      compute_for(20e-6 + 0.5e-9 * bytes); /* longer than the copy takes */
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
  return sum / (double)reps;
}

/* Seconds of one memcpy. The peer waits for a message meanwhile. */
static double copies(const struct pair* pair, int bytes, long reps) {
  double start = MPI_Wtime();
  for (long i = 0; i < reps; i++) {
    memcpy(pair->recv, pair->send, (size_t)bytes);
    __asm__ volatile("" ::: "memory"); /* the copy has to happen */
    memcpy(pair->other_recv, pair->other_send, (size_t)bytes);
    __asm__ volatile("" ::: "memory");
  }
  return (MPI_Wtime() - start) / (double)(2 * reps);
}

typedef double (*timed)(const struct pair* pair, int bytes, long reps);

static void measure(const struct pair* pair, int bytes, long reps, int batches, int warmup, int with_memcpy,
                    timed messages) {
  static double message[kMaxBatches], copy[kMaxBatches], ratio[kMaxBatches];
  for (int b = -warmup; b < batches; b++) {
    double m = messages(pair, bytes, reps), c = 0;
    if (with_memcpy && pair->rank == pair->first) c = copies(pair, bytes, reps);
    if (b < 0) continue;
    message[b] = m * 1e9;
    copy[b] = c * 1e9;
    ratio[b] = c / m;
  }
  if (pair->rank != pair->first) return;
  double median = median_of(message, batches), best = message[0];
  printf("pingpong %d %.1f %.1f %.1f %.1f %.3f\n", bytes, median, best, bytes / median * 1e3,
         median_of(copy, batches), median_of(ratio, batches));
  fflush(stdout);
}

int main(int argc, char** argv) {
  struct pair pair;
  int size;
  long sizes[kMaxSizes];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &pair.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char *ranks = option_text(argc, argv, "--pair", "0,1"), *comma = strchr(ranks, ',');
  pair.first = atoi(ranks);
  pair.second = comma != NULL ? atoi(comma + 1) : -1;
  int wrong = pair.first < 0 || pair.second < 0 || pair.first >= size || pair.second >= size ||
              pair.first == pair.second;
  if (option_given(argc, argv, "--help") || wrong) {
    if (pair.rank == 0) usage();
    if (pair.rank == 0 && wrong) fprintf(stderr, "pingpong: needs two different ranks of %d\n", size);
    MPI_Finalize();
    return wrong ? 2 : 0;
  }

  int count =
      option_sizes(option_text(argc, argv, "--sizes", "8,64,512,4K,32K,64K,256K,1M,4M"), sizes, kMaxSizes);
  int batches = (int)option_number(argc, argv, "--batches", 15),
      warmup = (int)option_number(argc, argv, "--warmup", 2);
  int with_memcpy = !option_given(argc, argv, "--no-memcpy");
  const int both_ways = !option_given(argc, argv, "--computing");
  if (batches > kMaxBatches) batches = kMaxBatches;
  if (pair.rank == pair.first) printf("# name bytes median_ns min_ns MB/s memcpy_ns memcpy/message\n");
  for (int i = 0; i < count && (pair.rank == pair.first || pair.rank == pair.second); i++) {
    long automatic = (8L << 20) / (sizes[i] > 0 ? sizes[i] : 1);
    long reps = option_number(argc, argv, "--reps",
                              automatic < 10     ? 10
                              : automatic > 2000 ? 2000
                                                 : automatic);
    pair.send = bench_memory((size_t)sizes[i]);
    pair.recv = bench_memory((size_t)sizes[i]);
    pair.other_send = both_ways ? bench_memory((size_t)sizes[i]) : pair.send;
    pair.other_recv = both_ways ? bench_memory((size_t)sizes[i]) : pair.recv;
    measure(&pair, (int)sizes[i], reps, batches, warmup, with_memcpy, both_ways ? round_trips : sends);
    free(pair.send);
    free(pair.recv);
    if (both_ways) {
      free(pair.other_send);
      free(pair.other_recv);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
