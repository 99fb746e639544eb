/* Prints the rank, and a sum over data that every rank must own: 6 + 3 * rank if each rank saw only its own
 * changes. */
#include <mpi.h>
#include <stdio.h>

int global = 1;
#if defined(__cplusplus)
static thread_local int per_thread = 2;
#else
static _Thread_local int per_thread = 2;
#endif

static int* hidden(void) {
  static int value = 3;
  return &value;
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  global += rank;
  per_thread += rank;
  *hidden() += rank;
  MPI_Barrier(MPI_COMM_WORLD);
  printf("rank %d of %d, seen %d\n", rank, size, global + per_thread + *hidden());
  return MPI_Finalize();
}
