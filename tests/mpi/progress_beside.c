/* With --progress thread or core, and each rank on a node of its own: what others do with a rank that computes, without a call,
 * gets on. A broadcast passes through it, a reduction takes its part, one-sided operations reach its memory, and a large
 * message is taken from it and given to it. */
#include "check.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Beside MPI, in a file that the processes of this machine map: how often a rank has done its part while others compute. */
static int* done;
static int
    expected; /* as large is *done once the others have done theirs of this round; the same at every rank */

static void share(int rank) {
  char path[] = "/tmp/progress_beside.XXXXXX";
  int file = rank == 0 ? mkstemp(path) : -1;
  if (rank == 0) CHECK(file >= 0 && ftruncate(file, sizeof *done) == 0);
  MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank != 0) file = open(path, O_RDWR);
  CHECK(file >= 0);
  done = mmap(NULL, sizeof *done, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  CHECK(done != MAP_FAILED);
  close(file);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) unlink(path);
}

static void did_my_part(void) {
  __atomic_add_fetch(done, 1, __ATOMIC_ACQ_REL);
}

/* Until the others have done their parts, however slow the machine is; that they wait for the end of it shows as a failure. */
static void compute(void) {
  double start = now();
  while (__atomic_load_n(done, __ATOMIC_ACQUIRE) < expected) CHECK(now() - start < 30);
}

enum { LARGE = 1 << 20 };
static char large[LARGE];

/* Ranks 1 and 2 start their parts and compute: one of them is between the root and rank 3, in whatever tree. */
static void broadcast(int rank, int size, MPI_Comm comm, int bytes) {
  MPI_Request request;
  expected += size - 2;
  memset(large, rank == 0 ? 'b' : 0, (size_t)bytes);
  MPI_Ibcast(large, bytes, MPI_CHAR, 0, comm, &request);
  if (rank == 1 || rank == 2) compute();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 0 || rank > 2) did_my_part();
  CHECK(large[0] == 'b' && large[bytes - 1] == 'b');
}

static void reduction(int rank, int size, MPI_Comm comm) {
  long mine[1000], sum[1000];
  MPI_Request request;
  expected += size - 1;
  for (int i = 0; i < 1000; i++) mine[i] = rank + i;
  MPI_Iallreduce(mine, sum, 1000, MPI_LONG, MPI_SUM, comm, &request);
  if (rank == 1) compute();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank != 1) did_my_part();
  CHECK(sum[7] == 7L * size + (long)size * (size - 1) / 2);
}

static void one_sided(int rank, int size, MPI_Win window, long* memory) {
  long one = 1, before = -1;
  expected += size - 1;
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
    did_my_part();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    CHECK(memory[0] == 1 && memory[2] == 1);
    CHECK_EQ(memory[size], 10L * (size - 1));
  }
}

static void transfer(int rank) {
  MPI_Request request;
  expected += 1;
  if (rank == 1) {
    MPI_Isend(large, LARGE, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &request);
    compute();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (rank == 0) {
    MPI_Recv(large, LARGE, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    did_my_part();
  }
}

int main(int argc, char** argv) {
  int rank, size;
  long* memory;
  MPI_Win window;
  check_begin(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(size >= 4);
  share(rank);
  MPI_Win_allocate((MPI_Aint)((size + 1) * (int)sizeof(long)), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &memory, &window);
  memset(memory, 0, (size_t)(size + 1) * sizeof(long));
  MPI_Barrier(MPI_COMM_WORLD);
  broadcast(rank, size, MPI_COMM_WORLD, 1000);
  MPI_Barrier(MPI_COMM_WORLD);
  broadcast(rank, size, MPI_COMM_WORLD, LARGE);
  MPI_Barrier(MPI_COMM_WORLD);
  reduction(rank, size, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  one_sided(rank, size, window, memory);
  MPI_Barrier(MPI_COMM_WORLD);
  transfer(rank);
  MPI_Win_free(&window);
  return check_end();
}
