/* For debuggers: a token goes from rank to rank, each of which waits for it in pass_on(). With an argument rank 0 keeps it. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int my_global = 1000;

static int pass_on(int rank, int size) {
  int token = rank;
  int added = 40 + rank;
  if (rank > 0) {
    MPI_Recv(&token, 1, MPI_INT, rank - 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @waits */
    token += added;                                                               /* @goes_on */
    my_global += token;
  }
  if (rank + 1 < size) MPI_Send(&token, 1, MPI_INT, rank + 1, 5, MPI_COMM_WORLD); /* @hands_on */
  return token;
}

__attribute__((noinline)) void all_are_there(int rank) {
  __asm__ volatile("" : : "r"(rank) : "memory");
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  my_global += rank;
  if (rank == 0) {
    for (int i = 1; i < size; ++i) MPI_Recv(NULL, 0, MPI_INT, i, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    all_are_there(rank);
    if (argc > 1) {
      puts("waiting");
      fflush(stdout);
      while (argc > 1) usleep(10000);
    }
  } else {
    MPI_Send(NULL, 0, MPI_INT, 0, 6, MPI_COMM_WORLD);
  }
  const int token = pass_on(rank, size);
  MPI_Barrier(MPI_COMM_WORLD); /* @together */
  if (rank == size - 1) printf("token %d\n", token);
  MPI_Finalize();
  return 0;
}
