/* Rank 0 computes `factor` times as long as the others, then all meet; each says how long it has computed.
 * With "hang" the others never come, with "abort" rank 0 ends the job after some more seconds, with "kill" the process
 * that rank 1 is in dies. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static double compute(double seconds) {
  double start = MPI_Wtime(), now;
  do now = MPI_Wtime();
  while (now - start < seconds);
  return now - start;
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double factor = atof(argv[1]);
  const char* ending = argc > 2 ? argv[2] : "";
  printf("%d %.9f\n", rank, compute(rank == 0 ? 0.04 * factor : 0.04));
  fflush(stdout);
  if (rank == 0 && strcmp(ending, "abort") == 0) {
    compute(argc > 3 ? atof(argv[3]) : 0.05); /* the others are to wait by then */
    MPI_Abort(MPI_COMM_WORLD, 3);             /* @abort */
  }
  if (rank == 0 && strcmp(ending, "hang") == 0)
    MPI_Recv(&factor, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @hang */
  if (rank == 1 && strcmp(ending, "kill") == 0) syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
  MPI_Barrier(MPI_COMM_WORLD); /* @meet */
  MPI_Finalize();
  return 0;
}
