/* Helper threads of a rank: they know their rank, see its globals, and have thread-locals and keys of their
 * own. */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <threads.h>

#include "check.h"

static int shared_by_rank = 3;
static __thread int mine = 40;
static __thread char zeros[5000];
static __thread int* pointer = &shared_by_rank;
__thread int exported_mine = 9;
static pthread_key_t key;
static int destroyed;

static void destroy(void* value) {
  __atomic_add_fetch(&destroyed, (int)(size_t)value, __ATOMIC_RELAXED);
}

static double vector_sum(const double* values) { /* values in registers around a thread-local access */
  double sum = 0;
  for (int i = 0; i < 16; ++i) sum += values[i] * (double)(mine - 40 + 1);
  return sum;
}

static void* helper(void* argument) {
  const int number = (int)(size_t)argument;
  double values[16];
  for (int i = 0; i < 16; ++i) values[i] = i;
  CHECK(vector_sum(values) == 120.0);
  CHECK(mine == 40 && zeros[4999] == 0 && *pointer >= 3 && exported_mine == 9);
  CHECK(test_rank() == 0 || pointer == &shared_by_rank);
  mine += number;
  zeros[4999] = (char)number;
  exported_mine = -number;
  CHECK(pthread_getspecific(key) == NULL);
  CHECK(pthread_setspecific(key, (void*)(size_t)1) == 0);
  for (int i = 0; i < 1000; ++i) {
    CHECK(mine == 40 + number && zeros[4999] == (char)number && exported_mine == -number);
    __atomic_add_fetch(&shared_by_rank, 1, __ATOMIC_RELAXED);
  }
  return (void*)(size_t)(unsigned)(test_rank() * 100 + number);
}

static int c11_helper(void* argument) {
  return mine + *(int*)argument;
}

int main(void) {
  const int rank = test_rank();
  CHECK(pthread_key_create(&key, destroy) == 0);
  for (int i = 0; i < 20; ++i) { /* 100 ranks: more keys than libc has for the process */
    pthread_key_t more;
    CHECK(pthread_key_create(&more, NULL) == 0 && pthread_getspecific(more) == NULL);
    CHECK(pthread_setspecific(more, &more) == 0 && pthread_getspecific(more) == &more);
    if (i % 2) CHECK(pthread_key_delete(more) == 0);
  }
  CHECK(pthread_setspecific(key, (void*)(size_t)(rank + 1)) == 0);
  mine = -rank;
  exported_mine = rank;
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) CHECK(pthread_create(&threads[i], NULL, helper, (void*)(size_t)(i + 1)) == 0);
  test_yield();
  for (int i = 0; i < 3; ++i) {
    void* result = NULL;
    CHECK(pthread_join(threads[i], &result) == 0 && (int)(size_t)result == rank * 100 + i + 1);
  }
  CHECK(shared_by_rank == 3003 && mine == -rank && exported_mine == rank && destroyed == 3);
  CHECK(pthread_getspecific(key) == (void*)(size_t)(rank + 1));
  int two = 2, result = 0;
  thrd_t thread;
  CHECK(thrd_create(&thread, c11_helper, &two) == thrd_success &&
        thrd_join(thread, &result) == thrd_success && result == 42);
  return 0;
}
