/* ring: a token goes round all ranks, then everybody adds up; rank 0 says what came out. Each rank names the
 * ranks that share its memory, which tells node processes apart. With an argument everybody then waits for a
 * message that never comes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The process that the kernel knows: under tmpi that of all ranks of a node, while getpid() is the rank's. */
static long kernel_process(void) {
  char number[32] = "";
  return readlink("/proc/self", number, sizeof number - 1) > 0 ? atol(number) : -1;
}

int main(int argc, char** argv) {
  int rank, size, token = 0, sum = 0, local_size, leader;
  MPI_Comm node;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) {
    MPI_Send(&token, 1, MPI_INT, 1 % size, 0, MPI_COMM_WORLD);
    MPI_Recv(&token, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ++token;
    MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
  }
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &local_size);
  leader = rank;
  MPI_Bcast(&leader, 1, MPI_INT, 0, node);
  printf("rank %d of %d with %d from %d, pid %ld\n", rank, size, local_size, leader, kernel_process());
  fflush(stdout);
  MPI_Comm_free(&node);
  if (argc > 1 && strcmp(argv[1], "echo") == 0 && rank == 0) {
    char line[256];
    while (fgets(line, sizeof(line), stdin)) printf("got %s", line);
  }
  if (argc > 1 && strcmp(argv[1], "code") == 0 && rank == size - 1) {
    MPI_Finalize();
    return atoi(argv[2]);
  }
  if (argc > 1 && strcmp(argv[1], "wait") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("all wait\n");
    fflush(stdout);
    MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (rank == 0) printf("token %d, sum %d\n", token, sum);
  MPI_Finalize();
  return 0;
}
