/* one_sided: what one-sided operations and synchronization take.
 *
 * Rank 0 accesses the memory of rank 1, which waits in a barrier meanwhile: small operations, each with a flush, and
 * puts of growing size, with batches of memcpy between as many buffers in between. Then all ranks: fences, and locks of
 * the right neighbour or of rank 0 with a put in each. Medians of batches.
 */
#include "bench.h"

enum { kMaxSizes = 32, kBatches = 15, kWarmup = 2 };

static int rank, ranks;
static MPI_Win win;
static char *memory, *origin, *origin2, *copy_to, *copy_to2;

static void put_small(long reps) {
  for (long i = 0; i < reps; i++) {
    MPI_Put(origin, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, win);
    MPI_Win_flush(1, win);
  }
}
static void get_small(long reps) {
  for (long i = 0; i < reps; i++) {
    MPI_Get(origin, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, win);
    MPI_Win_flush(1, win);
  }
}
static void fetch(long reps) {
  long long one = 1, seen;
  for (long i = 0; i < reps; i++) {
    MPI_Fetch_and_op(&one, &seen, MPI_LONG_LONG, 1, 0, MPI_SUM, win);
    MPI_Win_flush(1, win);
  }
}
static void fetch_largest(long reps) {
  long long one = 1, seen;
  for (long i = 0; i < reps; i++) {
    MPI_Fetch_and_op(&one, &seen, MPI_LONG_LONG, 1, 0, MPI_MAX, win);
    MPI_Win_flush(1, win);
  }
}
static void swap(long reps) {
  long long one = 1, seen = 0, expected;
  for (long i = 0; i < reps; i++) {
    expected = seen;
    MPI_Compare_and_swap(&one, &expected, &seen, MPI_LONG_LONG, 1, 0, win);
    MPI_Win_flush(1, win);
  }
}
static void add_small(long reps) {
  double one = 1;
  for (long i = 0; i < reps; i++) {
    MPI_Accumulate(&one, 1, MPI_DOUBLE, 1, 8, 1, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_flush(1, win);
  }
}
static void fences(long reps) {
  for (long i = 0; i < reps; i++) MPI_Win_fence(0, win);
}
static void lock_put(int target, int type, long reps) {
  for (long i = 0; i < reps; i++) {
    MPI_Win_lock(type, target, 0, win);
    MPI_Put(origin, 8, MPI_BYTE, target, 8 * (rank % 8), 8, MPI_BYTE, win);
    MPI_Win_unlock(target, win);
  }
}
static void locks_of_neighbour(long reps) {
  lock_put((rank + 1) % ranks, MPI_LOCK_EXCLUSIVE, reps);
}
static void locks_of_one(long reps) {
  lock_put(0, MPI_LOCK_EXCLUSIVE, reps);
}

/* `everybody`: all ranks do it, from a barrier to a barrier; else rank 0 in an epoch of its own. */
static void measure(const char* name, void (*what)(long), long reps, int everybody) {
  double seconds[kBatches];
  for (int b = -kWarmup; b < kBatches; b++) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (!everybody && rank == 0) MPI_Win_lock_all(0, win);
    double start = MPI_Wtime();
    if (everybody || rank == 0) what(reps);
    if (everybody) MPI_Barrier(MPI_COMM_WORLD);
    if (b >= 0) seconds[b] = (MPI_Wtime() - start) / (double)reps;
    if (!everybody && rank == 0) MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0) printf("%s %.1f\n", name, 1e9 * median_of(seconds, kBatches));
  fflush(stdout);
}

static void bandwidth(long bytes) {
  double put[kBatches], copy[kBatches], ratio[kBatches];
  long reps = (8 << 20) / bytes;
  if (reps < 4) reps = 4;
  for (int b = -kWarmup; b < kBatches; b++) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      MPI_Win_lock_all(0, win);
      double start = MPI_Wtime();
      for (long i = 0; i < reps; i++) {
        MPI_Put(i & 1 ? origin : origin2, (int)bytes, MPI_BYTE, 1, i & 1 ? bytes : 0, (int)bytes, MPI_BYTE,
                win);
        MPI_Win_flush(1, win);
      }
      double middle = MPI_Wtime();
      for (long i = 0; i < reps; i++) {
        memcpy(i & 1 ? copy_to : copy_to2, i & 1 ? origin : origin2, (size_t)bytes);
        __asm__ volatile("" ::: "memory"); /* the copy has to happen */
      }
      double end = MPI_Wtime();
      MPI_Win_unlock_all(win);
      if (b >= 0) {
        put[b] = (double)reps * (double)bytes / (middle - start);
        copy[b] = (double)reps * (double)bytes / (end - middle);
        ratio[b] = put[b] / copy[b];
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0)
    printf("put-%ld %.2f GB/s, memcpy %.2f GB/s, ratio %.2f\n", bytes, 1e-9 * median_of(put, kBatches),
           1e-9 * median_of(copy, kBatches), median_of(ratio, kBatches));
  fflush(stdout);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (option_given(argc, argv, "--help")) {
    printf(
        "usage: one_sided [options]\n"
        "  --reps N         small operations of a batch (default 2000)\n"
        "  --sizes LIST     bytes of large puts (default 64K,256K,1M,4M)\n"
        "  --all            what all ranks do together, not what rank 0 does\n");
    MPI_Finalize();
    return 0;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const long reps = option_number(argc, argv, "--reps", 2000);
  long sizes[kMaxSizes], largest = 4096;
  const int count = option_sizes(option_text(argc, argv, "--sizes", "64K,256K,1M,4M"), sizes, kMaxSizes);
  const int all = option_given(argc, argv, "--all");
  for (int i = 0; i < count && !all; i++) largest = sizes[i] > largest ? sizes[i] : largest;
  MPI_Win_allocate(2 * largest, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  memset(memory, 0, (size_t)(2 * largest));
  origin = (char*)bench_memory((size_t)largest);
  origin2 = (char*)bench_memory((size_t)largest);
  copy_to = (char*)bench_memory((size_t)largest);
  copy_to2 = (char*)bench_memory((size_t)largest);
  if (rank == 0) printf("# name ns-per-operation\n");
  if (all) {
    MPI_Win_fence(0, win);
    measure("fence", fences, reps, 1);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    measure("lock-neighbour", locks_of_neighbour, reps, 1);
    measure("lock-one", locks_of_one, reps, 1);
  } else if (ranks > 1) {
    measure("put-8", put_small, reps, 0);
    measure("get-8", get_small, reps, 0);
    measure("accumulate", add_small, reps, 0);
    measure("fetch-and-op", fetch, reps, 0);
    measure("fetch-and-op-max", fetch_largest, reps, 0);
    measure("compare-and-swap", swap, reps, 0);
    for (int i = 0; i < count; i++) bandwidth(sizes[i]);
  }
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
