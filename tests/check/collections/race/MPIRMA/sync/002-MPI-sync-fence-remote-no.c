// RACE LABELS BEGIN
/*
{
    "RACE_KIND": "none",
    "NPROCS": 3
}
*/
// RACE LABELS END
#include <mpi.h>

int main(int argc, char** argv) {
  int rank, size, there = 0;
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 3) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Win_create(&there, sizeof there, sizeof there, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  if (rank == 1) MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  if (rank == 0) there = 5;
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  return MPI_Finalize();
}
