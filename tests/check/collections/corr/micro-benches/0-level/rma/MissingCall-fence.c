#include <mpi.h>

int main(int argc, char** argv) {
  int there = 0, here = 1;
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Win_create(&there, sizeof there, sizeof there, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Put(&here, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
  MPI_Win_free(&window);
  return MPI_Finalize();
}
