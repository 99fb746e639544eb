/* Threads of one rank that access a window at the same time: in the epoch of MPI_Win_lock_all that one of them has opened,
   and each with locks of its own on other targets. */
#include <pthread.h>

#include "check.h"

enum { kThreads = 2, kRounds = 20 };

static MPI_Win window;

/* The first accesses to a target come from both threads at once. */
static void* add_everywhere(void* unused) {
  (void)unused;
  const long one = 1;
  for (int i = 0; i < world_size; i++) {
    const int target = (world_rank + i) % world_size;
    long seen;
    CHECK_OK(MPI_Fetch_and_op(&one, &seen, MPI_LONG, target, 0, MPI_SUM, window));
    CHECK_OK(MPI_Win_flush(target, window));
  }
  return NULL;
}

/* Reads, counts up and writes under exclusive locks; a thread has the targets that are its own modulo kThreads. */
static void* count_up(void* which) {
  const int thread = (int)(MPI_Aint)which;
  for (int round = 0; round < kRounds; round++) {
    for (int target = thread; target < world_size; target += kThreads) {
      long value;
      CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window));
      CHECK_OK(MPI_Get(&value, 1, MPI_LONG, target, 1, 1, MPI_LONG, window));
      CHECK_OK(MPI_Win_flush(target, window));
      value++;
      CHECK_OK(MPI_Put(&value, 1, MPI_LONG, target, 1, 1, MPI_LONG, window));
      CHECK_OK(MPI_Win_unlock(target, window));
    }
  }
  return NULL;
}

static void run_threads(void* (*body)(void*)) {
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; i++) CHECK_EQ(pthread_create(&threads[i], NULL, body, (void*)(MPI_Aint)i), 0);
  for (int i = 0; i < kThreads; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
}

int main(int argc, char** argv) {
  int provided;
  CHECK_OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
  CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  long* memory;
  CHECK_OK(MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window));
  memory[0] = memory[1] = 0;
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  for (int round = 0; round < kRounds; round++) {
    CHECK_OK(MPI_Win_lock_all(0, window));
    run_threads(add_everywhere);
    CHECK_OK(MPI_Win_unlock_all(window));
  }
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  /* A shared lock that was taken twice and given back once would keep this one out for ever. */
  CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world_rank, 0, window));
  CHECK_EQ(memory[0], (long)kRounds * kThreads * world_size);
  CHECK_OK(MPI_Win_unlock(world_rank, window));
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  run_threads(count_up);
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world_rank, 0, window));
  CHECK_EQ(memory[1], (long)kRounds * world_size);
  CHECK_OK(MPI_Win_unlock(world_rank, window));
  CHECK_OK(MPI_Win_free(&window));
  return check_end();
}
