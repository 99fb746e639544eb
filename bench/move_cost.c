/* What a move of a rank to another worker takes, in us: MPIX_Migrate to and fro, by a rank without heap and by one with 16 MiB that it has
 * written to. Needs --balance manual and two workers.
 *
 *   move_cost [--moves N] */
#include <mpi.h>
#include <mpix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int descending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? 1 : x > y ? -1 : 0;
}

/* The median of some batches. */
static double move(int moves) {
  enum { kBatches = 15 };
  double took[kBatches];
  int here;
  for (int i = 0; i < kBatches; i++) {
    const double start = MPI_Wtime();
    for (int k = 0; k < moves; k++) {
      MPIX_Get_worker(&here, NULL);
      if (MPIX_Migrate(1 - here) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    took[i] = 1e6 * (MPI_Wtime() - start) / moves;
  }
  qsort(took, kBatches, sizeof *took, descending);
  return took[kBatches / 2];
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int moves = argc > 2 && strcmp(argv[1], "--moves") == 0 ? atoi(argv[2]) : 20000;
  int rank, workers;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPIX_Get_worker(NULL, &workers);
  if (workers != 2 || moves < 1) {
    if (rank == 0) fprintf(stderr, "usage: tmpirun --workers 2 --balance manual move_cost [--moves N]\n");
    MPI_Finalize();
    return 2;
  }
  if (rank == 0) {
    const size_t bytes = (size_t)16 << 20;
    const double without = move(moves);
    char* heap = malloc(bytes);
    memset(heap, 1, bytes);
    const double with = move(moves);
    printf("move: %.3f us, with 16 MiB of heap %.3f us (%d)\n", without, with, heap[bytes / 2]);
    free(heap);
  }
  MPI_Finalize();
  return 0;
}
