/* MPI_THREAD_MULTIPLE, point-to-point: several threads of each rank exchange with the threads of all ranks at
 * the same time, in every way of waiting; the main thread joins them. A blocked thread must stop neither the
 * other threads of its rank nor the other ranks. */
#include <pthread.h>
#include <sched.h>

#include "check.h"

enum { kThreads = 4, kRounds = 6, kLargest = 9000 };

static int numbers[kThreads];

static int tag_of(int thread, int round) {
  return thread * 100 + round;
}
static uint32_t seed_of(int from, int to, int tag) {
  return (uint32_t)(from * 7919 + to * 31 + tag);
}
static size_t size_of(int round) {
  return (size_t)(round * round * 300 + 1);
}

/* A ring with blocking calls. */
static void blocking(int thread, int round) {
  unsigned char out[kLargest + 1000], in[kLargest + 1000];
  size_t bytes = size_of(round);
  int to = (world_rank + 1) % world_size, from = (world_rank + world_size - 1) % world_size;
  int tag = tag_of(thread, round);
  pattern_fill(out, bytes, seed_of(world_rank, to, tag));
  CHECK_OK(MPI_Sendrecv(out, (int)bytes, MPI_BYTE, to, tag, in, (int)bytes, MPI_BYTE, from, tag,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_PATTERN(in, bytes, seed_of(from, world_rank, tag));
}

/* Everybody to everybody, waited for in one of four ways. */
static void nonblocking(int thread, int round) {
  size_t bytes = size_of(round);
  int n = world_size, tag = tag_of(thread, round) + 50;
  unsigned char *out = check_malloc(bytes * (size_t)n), *in = check_malloc(bytes * (size_t)n);
  MPI_Request* requests = check_malloc(sizeof(MPI_Request) * 2 * (size_t)n);
  for (int i = 0; i < n; i++)
    CHECK_OK(MPI_Irecv(in + bytes * (size_t)i, (int)bytes, MPI_BYTE, i, tag, MPI_COMM_WORLD, &requests[i]));
  for (int i = 0; i < n; i++) {
    pattern_fill(out + bytes * (size_t)i, bytes, seed_of(world_rank, i, tag));
    CHECK_OK(
        MPI_Isend(out + bytes * (size_t)i, (int)bytes, MPI_BYTE, i, tag, MPI_COMM_WORLD, &requests[n + i]));
  }
  switch ((thread + round) % 4) {
    case 0:
      CHECK_OK(MPI_Waitall(2 * n, requests, MPI_STATUSES_IGNORE));
      break;
    case 1:
      for (int i = 0; i < 2 * n; i++) {
        int index;
        CHECK_OK(MPI_Waitany(2 * n, requests, &index, MPI_STATUS_IGNORE));
        CHECK(index >= 0 && index < 2 * n);
      }
      break;
    case 2:
      for (int i = 0; i < 2 * n; i++) {
        int flag = 0;
        while (!flag) CHECK_OK(MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE));
      }
      break;
    default:
      for (int i = 0; i < 2 * n; i++) CHECK_OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
  }
  for (int i = 0; i < 2 * n; i++) CHECK(requests[i] == MPI_REQUEST_NULL);
  for (int i = 0; i < n; i++) CHECK_PATTERN(in + bytes * (size_t)i, bytes, seed_of(i, world_rank, tag));
  free(requests);
  free(in);
  free(out);
}

/* A probed message is this thread's by its tag; a matched one is by the call. */
static void probing(int thread, int round) {
  int to = (world_rank + round) % world_size,
      from = (world_rank + world_size - round % world_size) % world_size;
  int out[3] = {world_rank, thread, round}, in[3] = {-1, -1, -1}, count, tag = 5000 + tag_of(thread, round);
  MPI_Request request;
  MPI_Status status;
  CHECK_OK(MPI_Issend(out, 3, MPI_INT, to, tag, MPI_COMM_WORLD, &request));
  if (round % 2) {
    CHECK_OK(MPI_Probe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status));
    CHECK_EQ(status.MPI_SOURCE, from);
    CHECK_OK(MPI_Recv(in, 3, MPI_INT, status.MPI_SOURCE, tag, MPI_COMM_WORLD, &status));
  } else {
    MPI_Message message;
    CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &message, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_EQ(count, 3);
    CHECK_OK(MPI_Mrecv(in, 3, MPI_INT, &message, &status));
  }
  CHECK(in[0] == from && in[1] == thread && in[2] == round);
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* All threads of a rank take from the same stream: each message reaches one of them. */
static int taken[64 * kThreads];
static void shared_stream(int thread) {
  for (int i = 0; i < 8; i++) {
    MPI_Message message;
    int number = -1, out = thread * 8 + i, to = (world_rank + 1) % world_size;
    CHECK_OK(MPI_Send(&out, 1, MPI_INT, to, 9000, MPI_COMM_WORLD));
    CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, 9000, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Mrecv(&number, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    CHECK(number >= 0 && number < 8 * kThreads);
    CHECK_EQ(__atomic_fetch_add(&taken[number], 1, __ATOMIC_RELAXED), 0);
  }
}

static void* body(void* argument) {
  int thread = *(int*)argument, main_thread = 1, level = -1, rank = -1;
  CHECK_OK(MPI_Is_thread_main(&main_thread));
  CHECK(!main_thread);
  CHECK_OK(MPI_Query_thread(&level));
  CHECK_EQ(level, MPI_THREAD_MULTIPLE);
  CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  CHECK_EQ(rank, world_rank);
  for (int round = 0; round < kRounds; round++) {
    blocking(thread, round);
    nonblocking(thread, round);
    probing(thread, round);
  }
  shared_stream(thread);
  return &numbers[thread];
}

int main(int argc, char** argv) {
  int provided, is_main = 0;
  CHECK_OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; i++) {
    numbers[i] = i;
    CHECK_EQ(pthread_create(&threads[i], NULL, body, &numbers[i]), 0);
  }
  /* The main thread communicates as well. */
  for (int round = 0; round < kRounds; round++) {
    blocking(kThreads, round);
    nonblocking(kThreads, round);
  }
  for (int i = 0; i < kThreads; i++) {
    void* result;
    CHECK_EQ(pthread_join(threads[i], &result), 0);
    CHECK(result == &numbers[i]);
  }
  for (int i = 0; i < 8 * kThreads; i++) CHECK_EQ(taken[i], 1);
  CHECK_OK(MPI_Is_thread_main(&is_main));
  CHECK(is_main);
  return check_end();
}
