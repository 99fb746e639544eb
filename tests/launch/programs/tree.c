/* tree [deadlock]: where ranks are is known: the last one computes (or waits, too), those with odd numbers receive from the next, the
 * others have come to a barrier; all by way of step(). Rank 0 goes there through a function of libc that calls it back. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static volatile double sum;
static volatile int deadlock;

__attribute__((noipa)) static void compute(void) {
  while (!deadlock) sum += 1; /* computes here */
}

__attribute__((noipa)) static void exchange(void) {
  int value;
  MPI_Recv(&value, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* receives here */
  sum += 1;
}

__attribute__((noipa)) static void step(void) {
  if (rank == size - 1) compute(); /* calls compute here */
  if (rank % 2 == 1) exchange();   /* calls exchange here */
  MPI_Barrier(MPI_COMM_WORLD);     /* calls barrier here */
  sum += 1;
}

__attribute__((noipa)) static int compare(const void* a, const void* b) {
  step(); /* calls step from compare here */
  return a < b;
}

int main(int argc, char** argv) {
  int pair[2] = {1, 2};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  deadlock = argc > 1 && strcmp(argv[1], "deadlock") == 0;
  /* The last one keeps its core: first the others shall be where they go. */
  if (rank < size - 1) MPI_Send(&rank, 1, MPI_INT, size - 1, 6, MPI_COMM_WORLD);
  for (int i = 0, other; rank == size - 1 && i < size - 1; ++i)
    MPI_Recv(&other, 1, MPI_INT, i, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0)
    qsort(pair, 2, sizeof pair[0], compare); /* calls qsort here */
  else
    step(); /* calls step here */
  MPI_Finalize();
  return 0;
}
