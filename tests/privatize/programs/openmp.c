/* OpenMP: each rank has its own libgomp, hence its own team of threads, and may block inside a parallel
 * region. */
#include <omp.h>

#include "check.h"

static int total;
static int private_copy = 5;
#pragma omp threadprivate(private_copy)

int main(void) {
  const int rank = test_rank();
  omp_set_num_threads(3);
  for (int round = 0; round < 3; ++round) {
    int sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
      CHECK(omp_get_num_threads() == 3);
      sum += omp_get_thread_num() + rank;
#pragma omp master
      test_yield();
#pragma omp barrier
#pragma omp critical
      total += 1;
    }
    CHECK(sum == 3 + 3 * rank && total == 3 * (round + 1));
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < 50; ++i) {
#pragma omp atomic
      total += i;
    }
    total -= 49 * 25;
  }
  private_copy = rank;
#pragma omp parallel
  {
    if (omp_get_thread_num() != 0) CHECK(private_copy == 5);
  }
  CHECK(private_copy == rank && omp_get_max_threads() == 3);
  return 0;
}
