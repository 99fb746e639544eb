/* Data of C: globals, statics, tables of pointers, large .bss, constructors, atexit. */
#include <string.h>

#include "check.h"

int initialised = 7;
int zeroed;
static long hidden_state = 40;
static int* pointer_to_global = &initialised;
static const char* const names[] = {"zero", "one", "two"};
static int (*const table[])(void);
char large[8 << 20]; /* anonymous memory, not part of the template */
static char middle[100 << 10];
_Alignas(64) static int aligned[16];
struct node {
  struct node* next;
  int value;
};
static struct node second = {0, 2}, first = {&second, 1};
static _Thread_local int per_thread = 5;
static _Thread_local int per_thread_zero;
static _Thread_local int* per_thread_pointer = &initialised;
#ifdef THREAD_LOCAL_BYTES
_Thread_local char per_thread_large[THREAD_LOCAL_BYTES];
#endif

static int count_calls(void) {
  static int calls;
  return ++calls;
}
static int other(void) {
  return (int)hidden_state;
}
static int (*const table[])(void) = {count_calls, other};

static int constructed;
static char** constructor_argv;
__attribute__((constructor)) static void construct(int argc, char** argv) {
  constructed += argc;
  constructor_argv = argv;
}
__attribute__((destructor)) static void destruct(void) {
  CHECK(zeroed == test_rank() + 1000);
  test_count("destructor");
}
static void at_exit(void) {
  CHECK(zeroed == test_rank());
  zeroed += 1000;
  test_count("atexit");
}

int main(int argc, char** argv, char** envp) {
  int rank = test_rank();
  CHECK(constructed == argc && constructor_argv == argv && constructed == 2);
  CHECK(argv[argc] == NULL && envp[0] != NULL);
  CHECK(strcmp(argv[1], "argument") == 0);
  argv[1][0] = (char)('a' + rank % 26);
  CHECK(initialised == 7 && zeroed == 0 && per_thread == 5 && per_thread_zero == 0);
  CHECK(pointer_to_global == &initialised && per_thread_pointer == &initialised);
  CHECK(first.next == &second && second.value == 2);
  CHECK(((size_t)aligned & 63) == 0 && large[0] == 0 && large[sizeof large - 1] == 0);
  atexit(at_exit);
  for (int round = 1; round <= 3; ++round) {
    *pointer_to_global = 100 * rank + round;
    zeroed = rank;
    hidden_state = rank + round;
    first.value = rank * 3;
    large[123456] = large[sizeof large - 1] = middle[5000] = (char)rank;
    aligned[3] = rank;
    per_thread = rank + 1;
    per_thread_zero = -rank;
    test_yield();
    CHECK(initialised == 100 * rank + round && zeroed == rank);
    CHECK(table[0]() == round && table[1]() == rank + round);
    CHECK(first.value == rank * 3);
    CHECK(large[123456] == (char)rank && large[sizeof large - 1] == (char)rank && middle[5000] == (char)rank);
    CHECK(aligned[3] == rank && per_thread == rank + 1 && per_thread_zero == -rank);
    CHECK(*per_thread_pointer == 100 * rank + round);
    CHECK(argv[1][0] == 'a' + rank % 26);
  }
  CHECK(strcmp(names[2], "two") == 0);
  if (rank % 2 == 1) exit(rank % 100);
  return rank % 100;
}
