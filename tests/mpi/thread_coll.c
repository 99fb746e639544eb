/* MPI_THREAD_MULTIPLE, collectives: each thread of a rank has a communicator of its own, on which it calls
 * blocking and nonblocking collectives and makes further communicators, at the same time as the others. */
#include <pthread.h>

#include "check.h"

enum { kThreads = 3, kRounds = 8, kMost = 3000 };

static MPI_Comm comms[kThreads + 1];
static int numbers[kThreads];

static void blocking(MPI_Comm comm, int thread, int round) {
  int n = round % 2 ? kMost : 5, root = round % world_size;
  int *out = check_malloc(sizeof(int) * kMost), *in = check_malloc(sizeof(int) * kMost);
  for (int i = 0; i < n; i++) out[i] = world_rank + thread * 10 + i;
  CHECK_OK(MPI_Allreduce(out, in, n, MPI_INT, MPI_SUM, comm));
  for (int i = 0; i < n; i++)
    CHECK_EQ(in[i], world_size * (world_size - 1) / 2 + world_size * (thread * 10 + i));
  for (int i = 0; i < n; i++) in[i] = world_rank == root ? i + round + thread : -1;
  CHECK_OK(MPI_Bcast(in, n, MPI_INT, root, comm));
  for (int i = 0; i < n; i++) CHECK_EQ(in[i], i + round + thread);
  CHECK_OK(MPI_Reduce(out, in, n, MPI_INT, MPI_MAX, root, comm));
  if (world_rank == root)
    for (int i = 0; i < n; i++) CHECK_EQ(in[i], world_size - 1 + thread * 10 + i);
  CHECK_OK(MPI_Barrier(comm));
  free(in);
  free(out);
}

static void gathers(MPI_Comm comm, int thread, int round) {
  int mine[2] = {world_rank, thread}, root = (round + thread) % world_size;
  int* all = check_malloc(sizeof(int) * 2 * (size_t)world_size);
  CHECK_OK(MPI_Allgather(mine, 2, MPI_INT, all, 2, MPI_INT, comm));
  for (int i = 0; i < world_size; i++) CHECK(all[2 * i] == i && all[2 * i + 1] == thread);
  memset(all, 0, sizeof(int) * 2 * (size_t)world_size);
  CHECK_OK(MPI_Gather(mine, 2, MPI_INT, all, 2, MPI_INT, root, comm));
  if (world_rank == root)
    for (int i = 0; i < world_size; i++) CHECK(all[2 * i] == i && all[2 * i + 1] == thread);
  free(all);
}

/* Several at a time, waited for together and by testing. */
static void outstanding(MPI_Comm comm, int thread, int round) {
  int sum[4] = {0}, mine[4], root = round % world_size, word = world_rank == root ? 77 + thread : -1,
      flag = 0;
  MPI_Request requests[6], barrier;
  for (int i = 0; i < 4; i++) {
    mine[i] = world_rank + i + thread;
    CHECK_OK(MPI_Iallreduce(&mine[i], &sum[i], 1, MPI_INT, MPI_SUM, comm, &requests[i]));
  }
  CHECK_OK(MPI_Ibcast(&word, 1, MPI_INT, root, comm, &requests[4]));
  CHECK_OK(MPI_Ibarrier(comm, &requests[5]));
  CHECK_OK(MPI_Waitall(6, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < 4; i++) CHECK_EQ(sum[i], world_size * (world_size - 1) / 2 + world_size * (i + thread));
  CHECK_EQ(word, 77 + thread);
  CHECK_OK(MPI_Ibarrier(comm, &barrier));
  while (!flag) CHECK_OK(MPI_Test(&barrier, &flag, MPI_STATUS_IGNORE));
}

static void making(MPI_Comm comm, int thread) {
  MPI_Comm made;
  int size, sum, one = 1;
  CHECK_OK(MPI_Comm_dup(comm, &made));
  CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made));
  CHECK_EQ(sum, world_size);
  CHECK_OK(MPI_Comm_free(&made));
  CHECK_OK(MPI_Comm_split(comm, world_rank % 2, thread, &made));
  CHECK_OK(MPI_Comm_size(made, &size));
  CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made));
  CHECK_EQ(sum, size);
  CHECK_OK(MPI_Comm_free(&made));
}

static void* body(void* argument) {
  int thread = *(int*)argument;
  for (int round = 0; round < kRounds; round++) {
    blocking(comms[thread], thread, round);
    gathers(comms[thread], thread, round);
    outstanding(comms[thread], thread, round);
    making(comms[thread], thread);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  pthread_t threads[kThreads];
  CHECK_OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
  for (int i = 0; i <= kThreads; i++) CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
  for (int i = 0; i < kThreads; i++) {
    numbers[i] = i;
    CHECK_EQ(pthread_create(&threads[i], NULL, body, &numbers[i]), 0);
  }
  for (int round = 0; round < kRounds; round++) blocking(comms[kThreads], kThreads, round);
  for (int i = 0; i < kThreads; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  for (int i = 0; i <= kThreads; i++) CHECK_OK(MPI_Comm_free(&comms[i]));
  return check_end();
}
