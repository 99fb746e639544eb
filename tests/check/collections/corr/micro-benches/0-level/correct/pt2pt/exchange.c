#include <mpi.h>

int main(int argc, char** argv) {
  int rank, other;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 5, &other, 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  return MPI_Finalize() || other != 1 - rank;
}
