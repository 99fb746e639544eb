/* GCC's nested functions put code on the stack: the program has an executable stack, so its ranks must have.
 */
#include "check.h"

static __attribute__((noinline)) int apply(int (*function)(int), int x) {
  return function(x);
}

int main(void) {
  volatile int rank = test_rank();
  int add(int x) {
    return x + rank;
  }
  test_yield();
  CHECK(apply(add, 5) == 5 + rank);
  return 0;
}
