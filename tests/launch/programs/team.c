/* A rank and the cores of its threads: how many it is told of, and on how many its OpenMP threads have run together. */
#define _GNU_SOURCE
#include <mpi.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>

enum { kMost = 4096 };
static int seen[kMost]; /* a CPU, by number, on which one of the team has run */

static int cpus_seen(void) {
  int count = 0;
  for (int i = 0; i < kMost; ++i) count += __atomic_load_n(&seen[i], __ATOMIC_RELAXED);
  return count;
}

/* Until as many CPUs have been seen as there are threads, or for half a minute. */
static int cpus_of_team(void) {
  const double end = omp_get_wtime() + 30;
#pragma omp parallel
  while (cpus_seen() < omp_get_num_threads() && omp_get_wtime() < end)
    __atomic_store_n(&seen[sched_getcpu()], 1, __ATOMIC_RELAXED);
  return cpus_seen();
}

int main(int argc, char** argv) {
  int rank, provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  printf("%d: told of %d, allowed %d, threads %d on %d\n", rank, omp_get_num_procs(), CPU_COUNT(&allowed),
         omp_get_max_threads(), cpus_of_team());
  MPI_Finalize();
  return 0;
}
