/* Threads that exist before MPI_Init_thread; MPI_THREAD_SERIALIZED (any thread, one at a time); what any
 * thread may ask at any time; errors in threads go to the handler of the communicator; C11 threads. */
#include <pthread.h>
#include <sched.h>
#include <threads.h>

#include "check.h"

static int
    stage; /* whose turn it is: atomics, since a mutex that the main thread waits for stops its worker */

static void await(int turn) {
  while (__atomic_load_n(&stage, __ATOMIC_ACQUIRE) != turn) sched_yield();
}
static void pass(int turn) {
  __atomic_store_n(&stage, turn, __ATOMIC_RELEASE);
}

static void* early(void* unused) {
  int flag = 1, rank = -1, provided, is_main = 1, version, subversion;
  CHECK_OK(MPI_Initialized(&flag));
  CHECK(!flag);
  CHECK_OK(MPI_Get_version(&version, &subversion));
  pass(1);
  await(2);
  CHECK_OK(MPI_Initialized(&flag));
  CHECK(flag);
  CHECK_OK(MPI_Finalized(&flag));
  CHECK(!flag);
  CHECK_OK(MPI_Query_thread(&provided));
  CHECK_EQ(provided, MPI_THREAD_SERIALIZED);
  CHECK_OK(MPI_Is_thread_main(&is_main));
  CHECK(!is_main);
  CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  CHECK_EQ(rank, world_rank);
  pass(3);
  return unused;
}

static int talk(void* argument) {
  int to = (world_rank + 1) % world_size, from = (world_rank + world_size - 1) % world_size, in = -1, out;
  out = world_rank * 10 + *(int*)argument;
  CHECK_OK(
      MPI_Sendrecv(&out, 1, MPI_INT, to, 1, &in, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_EQ(in, from * 10 + *(int*)argument);
  return 40 + *(int*)argument;
}

static int handled;
static void count_errors(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  CHECK_EQ(class_of(*code), MPI_ERR_TAG);
  handled++;
}

static void* fail_in_thread(void* unused) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  CHECK_CLASS(MPI_Send(NULL, 0, MPI_INT, 0, -5, MPI_COMM_SELF), MPI_ERR_TAG);
  CHECK_OK(MPI_Error_string(MPI_ERR_TAG, text, &length));
  return unused;
}

int main(int argc, char** argv) {
  pthread_t thread;
  int provided, number;
  CHECK_EQ(pthread_create(&thread, NULL, early, NULL), 0);
  await(1);
  CHECK_OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided));
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  CHECK_EQ(provided, MPI_THREAD_SERIALIZED);
  pass(2);
  await(3);
  CHECK_EQ(pthread_join(thread, NULL), 0);

  /* One after the other; each waits for threads of other ranks, also of the same worker. */
  for (number = 0; number < 5; number++) {
    thrd_t c11;
    int result = 0;
    CHECK_EQ(thrd_create(&c11, talk, &number), thrd_success);
    CHECK_EQ(thrd_join(c11, &result), thrd_success);
    CHECK_EQ(result, 40 + number);
    talk(&number);
  }

  MPI_Errhandler handler;
  CHECK_OK(MPI_Comm_create_errhandler(count_errors, &handler));
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler));
  CHECK_EQ(pthread_create(&thread, NULL, fail_in_thread, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(handled, 1);
  CHECK_OK(MPI_Errhandler_free(&handler));
  return check_end();
}
