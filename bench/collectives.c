/* collectives: time of one collective operation. A batch is a loop of operations; its time is the slowest
 * rank's, per operation. How many operations make a batch is found out first, so that a slow library takes no
 * longer than a fast one. */
#include "bench.h"

enum { kMaxSizes = 32, kMaxBatches = 1000 };

static int rank, size;

struct buffers {
  char *send, *recv;
};

static int *counts, *displs; /* of the v-variants: chunks of `bytes` each, or bytes / 8 elements */
static MPI_Comm grid;        /* two dimensions, closed */

static void lay_out(int count) {
  for (int r = 0; r < size; r++) counts[r] = count, displs[r] = r * count;
}

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

static void gatherv(const struct buffers* b, int bytes) {
  MPI_Gatherv(b->send, bytes, MPI_BYTE, b->recv, counts, displs, MPI_BYTE, 0, MPI_COMM_WORLD);
}
static void scatterv(const struct buffers* b, int bytes) {
  MPI_Scatterv(b->recv, counts, displs, MPI_BYTE, b->send, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}
static void allgatherv(const struct buffers* b, int bytes) {
  MPI_Allgatherv(b->send, bytes, MPI_BYTE, b->recv, counts, displs, MPI_BYTE, MPI_COMM_WORLD);
}
static void alltoallv(const struct buffers* b, int bytes) {
  (void)bytes;
  MPI_Alltoallv(b->send, counts, displs, MPI_BYTE, b->recv, counts, displs, MPI_BYTE, MPI_COMM_WORLD);
}
static void reduce_scatter(const struct buffers* b, int bytes) {
  (void)bytes;
  MPI_Reduce_scatter(b->recv, b->send, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void ibarrier(const struct buffers* b, int bytes) {
  (void)b, (void)bytes;
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void ibcast(const struct buffers* b, int bytes) {
  MPI_Request request;
  MPI_Ibcast(b->send, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void iallreduce(const struct buffers* b, int bytes) {
  MPI_Request request;
  MPI_Iallreduce(b->send, b->recv, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void neighbor_allgather(const struct buffers* b, int bytes) {
  MPI_Neighbor_allgather(b->send, bytes, MPI_BYTE, b->recv, bytes, MPI_BYTE, grid);
}
static void neighbor_alltoall(const struct buffers* b, int bytes) {
  MPI_Neighbor_alltoall(b->send, bytes, MPI_BYTE, b->recv, bytes, MPI_BYTE, grid);
}

/* Which operations there are, how many blocks of `bytes` their buffers hold - one, one per rank (kAll), or
 * one per neighbour (kFour) - and whether they have no data. */
enum blocks { kOne, kAll, kFour };
static const struct {
  const char* name;
  operation* run;
  enum blocks send, recv;
  int empty;
} kOperations[] = {
    {"barrier", barrier, kOne, kOne, 1},
    {"bcast", bcast, kOne, kOne, 0},
    {"gather", gather, kOne, kAll, 0},
    {"gatherv", gatherv, kOne, kAll, 0},
    {"scatter", scatter, kOne, kAll, 0},
    {"scatterv", scatterv, kOne, kAll, 0},
    {"allgather", allgather, kOne, kAll, 0},
    {"allgatherv", allgatherv, kOne, kAll, 0},
    {"alltoall", alltoall, kAll, kAll, 0},
    {"alltoallv", alltoallv, kAll, kAll, 0},
    {"reduce", reduce, kOne, kOne, 0},
    {"allreduce", allreduce, kOne, kOne, 0},
    {"reduce_scatter", reduce_scatter, kOne, kAll, 0},
    {"reduce_scatter_block", reduce_scatter_block, kOne, kAll, 0},
    {"scan", scan, kOne, kOne, 0},
    {"exscan", exscan, kOne, kOne, 0},
    {"ibarrier", ibarrier, kOne, kOne, 1},
    {"ibcast", ibcast, kOne, kOne, 0},
    {"iallreduce", iallreduce, kOne, kOne, 0},
    {"neighbor_allgather", neighbor_allgather, kOne, kFour, 0},
    {"neighbor_alltoall", neighbor_alltoall, kFour, kFour, 0},
};
enum { kOperationCount = sizeof kOperations / sizeof kOperations[0] };

static void usage(void) {
  printf("usage: collectives [--op LIST] [--sizes LIST] [--reps N] [--time MS] [--batches N]\n  operations:");
  for (int i = 0; i < kOperationCount; i++) printf(" %s", kOperations[i].name);
  printf(
      "\n  --op LIST      operations, separated by commas (default: all)\n"
      "  --sizes LIST   bytes (per pair of ranks where blocks are exchanged), multiples of 8 (default "
      "8,1K,64K)\n"
      "  --most BYTES   leave out what needs larger buffers in a rank (default 64M)\n"
      "  --reps N       operations of a batch at most (default 200)\n"
      "  --time MS      and no more than fit into this time, but two (default 20)\n"
      "  --batches N    batches (default 9)\n");
}

/* Is `name` one of the words of `list`? */
static int listed(const char* list, const char* name) {
  size_t length = strlen(name);
  for (const char* p = list; p != NULL && *p != '\0'; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
    if (strncmp(p, name, length) == 0 && (p[length] == ',' || p[length] == '\0')) return 1;
  return strcmp(list, "all") == 0;
}

static size_t buffer_size(enum blocks blocks, int bytes) {
  return (size_t)bytes * (blocks == kAll ? (size_t)size : blocks == kFour ? 4 : 1);
}

/* Microseconds of an operation, the slowest rank's: the same number in all ranks. */
static double run_batch(operation* run, const struct buffers* buffers, int bytes, long reps) {
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime(), elapsed, slowest;
  for (long i = 0; i < reps; i++) run(buffers, bytes);
  elapsed = MPI_Wtime() - start;
  MPI_Allreduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest / (double)reps * 1e6;
}

static void measure(int which, int bytes, long most_reps, double time_us, int batches) {
  static double times[kMaxBatches];
  operation* run = kOperations[which].run;
  struct buffers buffers = {bench_memory(buffer_size(kOperations[which].send, bytes)),
                            bench_memory(buffer_size(kOperations[which].recv, bytes))};
  lay_out(run == reduce_scatter ? bytes / 8 : bytes);
  run_batch(run, &buffers, bytes, 1);
  double reps = time_us / run_batch(run, &buffers, bytes, 2);
  if (reps > (double)most_reps) reps = (double)most_reps;
  if (reps < 2) reps = 2;
  for (int b = 0; b < batches; b++) times[b] = run_batch(run, &buffers, bytes, (long)reps);
  if (rank == 0) {
    double median = median_of(times, batches);
    printf("%s %d %d %.3f %.3f\n", kOperations[which].name, size, bytes, median, times[0]);
    fflush(stdout);
  }
  free(buffers.send);
  free(buffers.recv);
}

static void set_up(void) {
  int dims[2] = {0, 0}, periods[2] = {1, 1};
  counts = malloc((size_t)size * sizeof *counts);
  displs = malloc((size_t)size * sizeof *displs);
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
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
  int batches = (int)option_number(argc, argv, "--batches", 9);
  long most = 0;
  if (batches > kMaxBatches) batches = kMaxBatches;
  option_sizes(option_text(argc, argv, "--most", "64M"), &most, 1);
  set_up();
  if (rank == 0) printf("# name ranks bytes median_us min_us\n");
  for (int which = 0; which < kOperationCount; which++) {
    if (!listed(list, kOperations[which].name)) continue;
    for (int i = 0; i < (kOperations[which].empty ? 1 : count); i++) {
      int bytes = kOperations[which].empty ? 0 : (int)sizes[i];
      if (buffer_size(kOperations[which].recv, bytes) > (size_t)most) continue;
      measure(which, bytes, option_number(argc, argv, "--reps", 200),
              (double)option_number(argc, argv, "--time", 20) * 1e3, batches);
    }
  }
  MPI_Comm_free(&grid);
  free(counts);
  free(displs);
  MPI_Finalize();
  return 0;
}
