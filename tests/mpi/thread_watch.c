/* Somebody listens to the network at every moment, although it passes from hand to hand: a thread waits for a
 * message, then its rank for another one; the thread gets its message and has nothing more to do with MPI,
 * and the rank's must come all the same. And the other way round: the rank waits outside of MPI. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"

/* Microseconds in which the others most likely fall asleep; and in which they find that nothing happens, and
 * sleep on. */
enum { kRounds = 2, kMoment = 50000, kLong = 400000 };

static atomic_int got, all_done;

static void receive(int tag) {
  int value = -1;
  CHECK_OK(MPI_Recv(&value, 1, MPI_INT, world_rank ^ 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_EQ(value, tag);
}

static void* wait_in_thread(void* tag) {
  receive(*(int*)tag);
  atomic_store(&got, 1);
  while (!atomic_load(&all_done)) usleep(1000); /* in user code: not even a semaphore, which tmpi knows of */
  return NULL;
}

/* The messages come in the order of `tags`, each when everybody sleeps. */
static void send_slowly(const int* tags) {
  for (int i = 0; i < 2; i++) {
    usleep(i == 0 ? kLong : kMoment);
    CHECK_OK(MPI_Send(&tags[i], 1, MPI_INT, world_rank ^ 1, tags[i], MPI_COMM_WORLD));
  }
}

static void take_turns(int first, int second, int by_thread) {
  const int tags[2] = {first, second};
  atomic_store(&got, 0);
  atomic_store(&all_done, 0);
  pthread_t thread;
  if (world_rank % 2 == 1) {
    send_slowly(tags);
  } else {
    CHECK_EQ(pthread_create(&thread, NULL, wait_in_thread, &by_thread), 0);
    usleep(kMoment); /* it sleeps, and watches */
    receive(first + second - by_thread);
    while (!atomic_load(&got)) usleep(1000);
    atomic_store(&all_done, 1);
    CHECK_EQ(pthread_join(thread, NULL), 0);
  }
}

int main(int argc, char** argv) {
  int provided;
  CHECK_OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  CHECK(world_size % 2 == 0);
  for (int round = 0; round < kRounds; round++) {
    take_turns(1, 2, 1);
    take_turns(3, 4, 4);
  }
  return check_end();
}
