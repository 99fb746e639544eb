/* A program with one error, of the last rank's, of the kind that its argument names; "none": right. For the test of sanitizers. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "steps.h"

static int shared; /* by two threads */
static void* add(void* nothing) {
  (void)nothing;
  for (int i = 0; i < 1000; i++) shared++;
  return NULL;
}

static _Atomic int started;
static void* add_together(void* nothing) {
  atomic_fetch_add_explicit(&started, 1, memory_order_relaxed); /* which puts nothing in order */
  while (atomic_load_explicit(&started, memory_order_relaxed) < 2) sched_yield();
  return add(nothing);
}

static void race(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) CHECK_EQ(pthread_create(&threads[i], NULL, add_together, NULL), 0);
  for (int i = 0; i < 2; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
}

static void write_past(volatile int* block, int count) {
  block[count] = 1;
}

static int sum_of(volatile int* block, int count) {
  int sum = block[0];
  for (int i = 0; i < count; i++) sum += block[i];
  return sum;
}

static char* volatile lost;
static void __attribute__((noinline)) lose(void) {
  for (int i = 0; i < 20; i++) lost = malloc(100000);
  lost = NULL;
}

static void err(const char* kind) {
  int* block = check_malloc(10 * sizeof(int));
  for (int i = 0; i < 10; i++) block[i] = 2147483647 - i;
  if (strcmp(kind, "address") == 0) write_past(block, 10);
  if (strcmp(kind, "undefined") == 0 && sum_of(block, 10) == 42) printf("by chance\n");
  if (strcmp(kind, "thread") == 0) race();
  if (strcmp(kind, "leak") == 0) lose();
  free(block);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  for (int round = 0; round < 3; round++) {
    next_step();
    int* block = check_malloc(1000 * sizeof(int));
    memset(block, world_rank, 1000 * sizeof(int));
    char* copy = strdup("text");
    next_step();
    free(block);
    free(copy);
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, add, NULL), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
  }
  const char* preload = getenv("LD_PRELOAD"); /* the user's, if there is one: not what tmpi adds to it */
  CHECK(preload == NULL || strchr(preload, ':') == NULL);
  if (world_rank == world_size - 1) err(argc > 1 ? argv[1] : "none");
  return end_with(shared);
}
