/* Rank 0 reads the job's stdin, the others see its end; scanf after a prompt. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, number = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("number? ");
  const int got = scanf("%d", &number);
  printf("rank %d got %d %d\n", rank, got, number);
  MPI_Finalize();
  return 0;
}
