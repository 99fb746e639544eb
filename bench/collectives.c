/* collectives: time of one collective operation. A batch is a loop of operations; its time is the slowest
 * rank's, per operation. */
#include "bench.h"

enum { kMaxSizes = 32, kMaxBatches = 1000 };

static int rank, size;

struct buffers {
  char *send, *recv;
};

typedef void operation(const struct buffers* buffers, int bytes);

static void barrier(const struct buffers* b, int bytes) {
  (void)b, (void)bytes;
  MPI_Barrier(MPI_COMM_WORLD);
}
static void bcast(const struct buffers* b, int bytes) {
  MPI_Bcast(b->send, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}
static void reduce(const struct buffers* b, int bytes) {
  MPI_Reduce(b->send, b->recv, bytes / 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}
static void allreduce(const struct buffers* b, int bytes) {
  MPI_Allreduce(b->send, b->recv, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void gather(const struct buffers* b, int bytes) {
  MPI_Gather(b->send, bytes, MPI_BYTE, b->recv, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}
static void scatter(const struct buffers* b, int bytes) {
  MPI_Scatter(b->recv, bytes, MPI_BYTE, b->send, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}
static void allgather(const struct buffers* b, int bytes) {
  MPI_Allgather(b->send, bytes, MPI_BYTE, b->recv, bytes, MPI_BYTE, MPI_COMM_WORLD);
}
static void alltoall(const struct buffers* b, int bytes) {
  MPI_Alltoall(b->send, bytes, MPI_BYTE, b->recv, bytes, MPI_BYTE, MPI_COMM_WORLD);
}
static void scan(const struct buffers* b, int bytes) {
  MPI_Scan(b->send, b->recv, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void exscan(const struct buffers* b, int bytes) {
  MPI_Exscan(b->send, b->recv, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void reduce_scatter_block(const struct buffers* b, int bytes) {
  MPI_Reduce_scatter_block(b->recv, b->send, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Which operations there are, and how many blocks of `bytes` their buffers hold: 1, or one per rank. */
static const struct {
  const char* name;
  operation* run;
  int send_per_rank, recv_per_rank;
} kOperations[] = {
    {"barrier", barrier, 0, 0},
    {"bcast", bcast, 0, 0},
    {"reduce", reduce, 0, 0},
    {"allreduce", allreduce, 0, 0},
    {"gather", gather, 0, 1},
    {"scatter", scatter, 0, 1},
    {"allgather", allgather, 0, 1},
    {"alltoall", alltoall, 1, 1},
    {"scan", scan, 0, 0},
    {"exscan", exscan, 0, 0},
    {"reduce_scatter_block", reduce_scatter_block, 0, 1},
};
enum { kOperationCount = sizeof kOperations / sizeof kOperations[0] };

static void usage(void) {
  printf(
      "usage: collectives [--op LIST] [--sizes LIST] [--reps N] [--batches N] [--warmup N]\n  operations:");
  for (int i = 0; i < kOperationCount; i++) printf(" %s", kOperations[i].name);
  printf(
      "\n  --op LIST      operations, separated by commas (default: all)\n"
      "  --sizes LIST   bytes (per pair of ranks where blocks are exchanged), multiples of 8 (default "
      "8,1K,64K)\n"
      "  --reps N       operations of a batch (default 50)\n"
      "  --batches N    batches (default 9)\n"
      "  --warmup N     batches that do not count (default 1)\n");
}

/* Is `name` one of the words of `list`? */
static int listed(const char* list, const char* name) {
  size_t length = strlen(name);
  for (const char* p = list; p != NULL && *p != '\0'; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
    if (strncmp(p, name, length) == 0 && (p[length] == ',' || p[length] == '\0')) return 1;
  return strcmp(list, "all") == 0;
}

static void measure(int which, int bytes, long reps, int batches, int warmup) {
  static double times[kMaxBatches];
  size_t one = (size_t)bytes, all = (size_t)bytes * (size_t)size;
  struct buffers buffers = {bench_memory(kOperations[which].send_per_rank ? all : one),
                            bench_memory(kOperations[which].recv_per_rank ? all : one)};
  for (int b = -warmup; b < batches; b++) {
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime(), elapsed, slowest;
    for (long i = 0; i < reps; i++) kOperations[which].run(&buffers, bytes);
    elapsed = MPI_Wtime() - start;
    MPI_Allreduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (b >= 0) times[b] = slowest / (double)reps * 1e6;
  }
  if (rank == 0) {
    double median = median_of(times, batches);
    printf("%s %d %d %.3f %.3f\n", kOperations[which].name, size, bytes, median, times[0]);
    fflush(stdout);
  }
  free(buffers.send);
  free(buffers.recv);
}

int main(int argc, char** argv) {
  long sizes[kMaxSizes];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (option_given(argc, argv, "--help")) {
    if (rank == 0) usage();
    MPI_Finalize();
    return 0;
  }
  const char* list = option_text(argc, argv, "--op", "all");
  int count = option_sizes(option_text(argc, argv, "--sizes", "8,1K,64K"), sizes, kMaxSizes);
  int batches = (int)option_number(argc, argv, "--batches", 9),
      warmup = (int)option_number(argc, argv, "--warmup", 1);
  if (batches > kMaxBatches) batches = kMaxBatches;
  if (rank == 0) printf("# name ranks bytes median_us min_us\n");
  for (int which = 0; which < kOperationCount; which++) {
    if (!listed(list, kOperations[which].name)) continue;
    for (int i = 0; i < count; i++) {
      if (kOperations[which].run == barrier && i > 0) break;
      measure(which, kOperations[which].run == barrier ? 0 : (int)sizes[i],
              option_number(argc, argv, "--reps", 50), batches, warmup);
    }
  }
  MPI_Finalize();
  return 0;
}
