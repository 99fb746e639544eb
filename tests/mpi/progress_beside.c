/* With --progress thread or core, and each rank on a node of its own: what others do with a rank that computes, without a call,
 * gets on. A broadcast passes through it, a reduction takes its part, one-sided operations reach its memory, and a large
 * message is taken from it and given to it. */
#include "check.h"

#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double compute_for = 0.3; /* seconds */

static void compute(void) {
  for (double end = now() + compute_for; now() < end;) {
  }
}

enum { LARGE = 1 << 20 };
static char large[LARGE];

/* Ranks 1 and 2 start their parts and compute: one of them is between the root and rank 3, in whatever tree. How long the
 * others' parts took. */
static double broadcast(int rank, MPI_Comm comm, int bytes) {
  MPI_Request request;
  double start = now();
  if (rank == 0) memset(large, 'b', (size_t)bytes);
  MPI_Ibcast(large, bytes, MPI_CHAR, 0, comm, &request);
  if (rank == 1 || rank == 2) compute();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  double took = now() - start;
  CHECK(large[0] == 'b' && large[bytes - 1] == 'b');
  memset(large, 0, (size_t)bytes);
  return took;
}

static double reduction(int rank, int size, MPI_Comm comm) {
  long mine[1000], sum[1000];
  MPI_Request request;
  for (int i = 0; i < 1000; i++) mine[i] = rank + i;
  double start = now();
  MPI_Iallreduce(mine, sum, 1000, MPI_LONG, MPI_SUM, comm, &request);
  if (rank == 1) compute();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  double took = now() - start;
  CHECK(sum[7] == 7L * size + (long)size * (size - 1) / 2);
  return took;
}

static double one_sided(int rank, int size, MPI_Win window, long* memory) {
  long one = 1, before = -1;
  double start = now();
  if (rank == 1) {
    compute();
  } else {
    for (int i = 0; i < 10; i++) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
      MPI_Put(&one, 1, MPI_LONG, 1, rank, 1, MPI_LONG, window);
      MPI_Fetch_and_op(&one, &before, MPI_LONG, 1, size, MPI_SUM, window);
      MPI_Win_unlock(1, window);
      CHECK(before >= 0);
    }
  }
  double took = now() - start;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    CHECK(memory[0] == 1 && memory[2] == 1);
    CHECK(memory[size] % (10L * (size - 1)) == 0 && memory[size] > 0);
  }
  return took;
}

static double transfer(int rank) {
  MPI_Request request;
  double start = now();
  if (rank == 1) {
    MPI_Isend(large, LARGE, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &request);
    compute();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (rank == 0) {
    MPI_Recv(large, LARGE, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return now() - start;
}

/* Nobody but those that compute took long. */
static int got_on(int rank, int computing, double took) {
  int late = (rank == 0 || rank > computing) && took > 0.5 * compute_for, any;
  MPI_Allreduce(&late, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return !any;
}

int main(int argc, char** argv) {
  int rank, size, fine[5] = {0, 0, 0, 0, 0};
  long* memory;
  MPI_Win window;
  check_begin(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(size >= 4);
  MPI_Win_allocate((MPI_Aint)((size + 1) * (int)sizeof(long)), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &memory, &window);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int attempt = 0; attempt < 5; attempt++) { /* on a machine that does other work */
    for (int what = 0; what < 5; what++) {
      if (fine[what]) continue;
      MPI_Barrier(MPI_COMM_WORLD);
      double took = what == 0   ? broadcast(rank, MPI_COMM_WORLD, 1000)
                    : what == 1 ? broadcast(rank, MPI_COMM_WORLD, LARGE)
                    : what == 2 ? reduction(rank, size, MPI_COMM_WORLD)
                    : what == 3 ? one_sided(rank, size, window, memory)
                                : transfer(rank);
      fine[what] = got_on(rank, what < 2 ? 2 : 1, took);
    }
  }
  for (int what = 0; what < 5; what++) CHECK(fine[what]);
  MPI_Win_free(&window);
  return check_end();
}
