/* A rank waits for its own threads by means other than joining: a mutex that a thread holds while it waits
 * for a message (the usual way to MPI_THREAD_SERIALIZED), a condition variable, a semaphore, a generalized
 * request. The other ranks of the worker, for whose messages the threads wait, must run meanwhile. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore, held;
static int exchanged;

static void exchange(int tag) {
  int to = (world_rank + 1) % world_size, from = (world_rank + world_size - 1) % world_size, in = -1;
  CHECK_OK(MPI_Sendrecv(&world_rank, 1, MPI_INT, to, tag, &in, 1, MPI_INT, from, tag, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
  CHECK_EQ(in, from);
}

static void* with_mutex(void* unused) {
  CHECK_EQ(pthread_mutex_lock(&mutex), 0);
  CHECK_EQ(sem_post(&held), 0);
  exchange(1);
  exchanged = 1;
  CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
  return unused;
}

static void* with_condition(void* unused) {
  exchange(2);
  CHECK_EQ(pthread_mutex_lock(&mutex), 0);
  exchanged = 2;
  CHECK_EQ(pthread_cond_signal(&condition), 0);
  CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
  return unused;
}

static void* with_semaphore(void* unused) {
  exchange(3);
  exchanged = 3;
  CHECK_EQ(sem_post(&semaphore), 0);
  return unused;
}

static int query(void* unused, MPI_Status* status) {
  (void)unused;
  MPI_Status_set_elements(status, MPI_INT, 1);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = 17;
  return MPI_SUCCESS;
}
static int release(void* unused) {
  (void)unused;
  return MPI_SUCCESS;
}
static int cancel(void* unused, int complete) {
  (void)unused, (void)complete;
  return MPI_SUCCESS;
}

static void* with_request(void* request) {
  exchange(4);
  usleep(1000);
  CHECK_OK(MPI_Grequest_complete(*(MPI_Request*)request));
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t thread;
  pthread_mutexattr_t attributes;
  pthread_mutex_t checking;
  MPI_Request request;
  MPI_Status status;
  int provided;
  CHECK_OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  CHECK_EQ(sem_init(&semaphore, 0, 0), 0);
  CHECK_EQ(sem_init(&held, 0, 0), 0);

  for (int round = 0; round < 5; round++) {
    exchanged = 0;
    CHECK_EQ(pthread_create(&thread, NULL, with_mutex, NULL), 0);
    CHECK_EQ(sem_wait(&held), 0);
    CHECK_EQ(pthread_mutex_lock(&mutex), 0);
    CHECK_EQ(exchanged, 1);
    CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);

    CHECK_EQ(pthread_create(&thread, NULL, with_condition, NULL), 0);
    CHECK_EQ(pthread_mutex_lock(&mutex), 0);
    while (exchanged != 2) CHECK_EQ(pthread_cond_wait(&condition, &mutex), 0);
    CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);

    CHECK_EQ(pthread_create(&thread, NULL, with_semaphore, NULL), 0);
    CHECK_EQ(sem_wait(&semaphore), 0);
    CHECK_EQ(exchanged, 3);
    CHECK_EQ(pthread_join(thread, NULL), 0);

    CHECK_OK(MPI_Grequest_start(query, release, cancel, NULL, &request));
    CHECK_EQ(pthread_create(&thread, NULL, with_request, &request), 0);
    MPI_Request waited_for = request;
    CHECK_OK(MPI_Wait(&waited_for, &status));
    CHECK_EQ(status.MPI_TAG, 17);
    CHECK_EQ(pthread_join(thread, NULL), 0);
  }

  /* A mutex that notices its owner's second lock still does. */
  CHECK_EQ(pthread_mutexattr_init(&attributes), 0);
  CHECK_EQ(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK), 0);
  CHECK_EQ(pthread_mutex_init(&checking, &attributes), 0);
  CHECK_EQ(pthread_mutex_lock(&checking), 0);
  CHECK_EQ(pthread_mutex_lock(&checking), EDEADLK);
  CHECK_EQ(pthread_mutex_unlock(&checking), 0);
  return check_end();
}
