/* MPI_Pcontrol: only what lies between level 1 and level 0 is recorded. */
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Pcontrol(0);
  for (int i = 0; i < 5; i++) MPI_Barrier(MPI_COMM_WORLD); /* @unseen */
  for (double start = MPI_Wtime(); MPI_Wtime() - start < 0.2;) {
  }
  MPI_Pcontrol(1);
  for (int i = 0; i < 7; i++) MPI_Barrier(MPI_COMM_WORLD); /* @seen */
  MPI_Finalize();
  return 0;
}
