/* How many threads OpenMP and OpenBLAS choose by themselves: one for each core that this process may use, which under tmpi is its worker's. */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <sched.h>

#include "steps.h"

int openblas_get_num_threads(void);

static void* threads_of_thread(void* nothing) {
  (void)nothing;
  cpu_set_t set;
  CHECK_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  return (void*)(intptr_t)CPU_COUNT(&set);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  cpu_set_t set;
  CHECK_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  const int cores = CPU_COUNT(&set);
#ifdef MPI_ABI_VERSION
  CHECK_EQ(cores, 1);
#endif
  CHECK_EQ(pthread_getaffinity_np(pthread_self(), sizeof set, &set), 0);
  CHECK_EQ(CPU_COUNT(&set), cores);
  next_step();
  CHECK_EQ(omp_get_num_procs(), cores);
  CHECK_EQ(omp_get_max_threads(), cores);
  CHECK_EQ(openblas_get_num_threads(), cores);
  int team = 0;
#pragma omp parallel reduction(+ : team)
  team++;
  CHECK_EQ(team, cores);
  pthread_t thread;
  void* seen;
  CHECK_EQ(pthread_create(&thread, NULL, threads_of_thread, NULL), 0);
  CHECK_EQ(pthread_join(thread, &seen), 0);
  CHECK_EQ((intptr_t)seen, cores);
  return end_with(world_rank);
}
