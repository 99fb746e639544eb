// OpenMP in a program that a plain compiler has linked: THREADPRIVATE variables of each thread of each rank, and threads
// that a child starts.
#define _GNU_SOURCE
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int value = -1;
#pragma omp threadprivate(value)
static _Thread_local int own = 42;
static int rank;

static void* begin(void* of_creator) {
  const int right = own == 42 && of_creator != &own;
  own = rank;
  return right ? NULL : of_creator;
}

// As any process: its threads have thread-locals of their own, and memory that libc takes for them is free.
static int child_fails(void) {
  const pid_t child = fork();
  if (child == 0) {
    int wrong = own != rank + 1000 || sched_getcpu() < 0;
    for (int i = 0; i < 20; ++i) {
      pthread_t threads[4];
      void* result;
      for (int t = 0; t < 4; ++t) wrong += pthread_create(&threads[t], NULL, begin, &own) != 0;
      for (int t = 0; t < 4; ++t) wrong += pthread_join(threads[t], &result) != 0 || result != NULL;
    }
    _exit(wrong != 0 || own != rank + 1000);
  }
  int status = 1;
  return child < 0 || waitpid(child, &status, 0) != child || status != 0;
}

int main(int argc, char** argv) {
  int failures = 0, provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  own = rank + 1000;
  for (int round = 0; round < 10; ++round) {
#pragma omp parallel num_threads(3)
    value = 100 * rank + 10 * round + omp_get_thread_num();
    MPI_Barrier(MPI_COMM_WORLD);
#pragma omp parallel num_threads(3) reduction(+ : failures)
    failures += value != 100 * rank + 10 * round + omp_get_thread_num();
    failures += own != rank + 1000;
  }
  failures += child_fails();
  MPI_Barrier(MPI_COMM_WORLD);
  failures += own != rank + 1000;
  printf("rank %d: %d failures\n", rank, failures);
  MPI_Finalize();
  return failures != 0;
}
