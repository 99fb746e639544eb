/* OpenMP, by libomp or libgomp: teams of the size that each rank has asked for, thread-local copies, a reduction, locks. */
#include <omp.h>

#include "steps.h"

static int copy = -1;
#pragma omp threadprivate(copy)

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  const char* asked = getenv("OMP_NUM_THREADS"); /* by tmpirun -x */
  if (asked != NULL) CHECK_EQ(omp_get_max_threads(), atoi(asked));
  const int threads = 1 + world_rank % 3;
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
  omp_set_schedule(world_rank % 2 ? omp_sched_static : omp_sched_dynamic, 1 + world_rank);
  double sum = 0;
  for (int round = 0; round < 5; round++) {
    next_step();
    omp_sched_t kind;
    int chunk, in_team = 0, right = 0;
    omp_get_schedule(&kind, &chunk);
    CHECK_EQ(chunk, 1 + world_rank);
    CHECK_EQ(omp_get_max_threads(), threads);
#pragma omp parallel reduction(+ : in_team)
    {
      in_team = 1;
      copy = world_rank + omp_get_thread_num();
    }
    CHECK_EQ(in_team, threads);
    next_step();
#pragma omp parallel reduction(+ : right)
    right = copy == world_rank + omp_get_thread_num();
    CHECK_EQ(right, threads);
    sum = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
    for (int i = 0; i < 1000; i++) sum += i * (1 + world_rank);
    CHECK_NEAR(sum, 499500.0 * (1 + world_rank), 0);
    int ordered = 0;
#pragma omp parallel
    {
#pragma omp critical
      ordered++;
    }
    CHECK_EQ(ordered, threads);
  }
  return end_with(sum);
}
