/* For gdb and perf: a function to stop in, a global and a static with another value in each rank. */
#include "check.h"

int my_global = 1000;
static double my_static = 0.5;

__attribute__((noinline)) void all_ready(int rank) {
  __asm__ volatile("" : : "r"(rank) : "memory");
}

__attribute__((noinline)) double busy(long rounds) {
  for (long i = 0; i < rounds; ++i) my_static = my_static * 1.0000001 + 1e-9;
  return my_static;
}

int main(int argc, char** argv) {
  const int rank = test_rank();
  my_global += rank;
  my_static += rank;
  test_yield();
  all_ready(rank);
  test_yield();
  if (argc > 1) busy(atol(argv[1]));
  return 0;
}
