/* //////// as MPI-BugBench describes its programs
  Description: takes for granted from whom the first message comes

  Category: P2P

BEGIN_MBB_TESTS
  $ mpirun -np 3 ${EXE}
  | ERROR MessageRace
  | MessageRace-own
END_MBB_TESTS
//////// */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, first = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Status status;
    for (int i = 0; i < 2; ++i) {
      int from;
      MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &status);
      if (i == 0) first = from;
    }
    if (first != 1) MPI_Recv(&first, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, &status);
  } else {
    if (rank == 2) usleep(300000);
    MPI_Send(&rank, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
  }
  return MPI_Finalize();
}
