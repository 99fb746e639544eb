/* Indirect functions: the resolver runs once per program, its answer holds for every rank. */
#include "check.h"

static int choice = 2;
static int one(void) {
  return 1;
}
static int two(void) {
  return choice;
}
static int (*resolve(void))(void) {
  __builtin_cpu_init();
  return __builtin_cpu_supports("sse2") ? two : one;
}
int exported(void) __attribute__((ifunc("resolve")));
static int internal(void) __attribute__((ifunc("resolve")));
static int (*pointer)(void) = exported;
__attribute__((target_clones("avx2", "default"))) int clones(int x) {
  return x * 3;
}

int main(void) {
  choice += test_rank();
  test_yield();
  CHECK(exported() == 2 + test_rank() && internal() == 2 + test_rank() && pointer() == 2 + test_rank());
  CHECK(clones(5) == 15);
  return 0;
}
