/* Ways to block for ever: deadlock CASE. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, size, value = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* which = argc > 1 ? argv[1] : "ring";
  if (strcmp(which, "ring") == 0) { /* everybody receives first */
    MPI_Recv(&value, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(which, "tag") == 0) { /* the message has another tag */
    if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 6, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(which, "late") == 0) { /* so has one that comes when all others sleep already */
    if (rank == 1) usleep(600000);
    if (rank == 1) MPI_Send(&value, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, rank ^ 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(which, "collective") == 0) { /* one rank is in another call */
    MPI_Comm named;
    MPI_Comm_dup(MPI_COMM_WORLD, &named);
    MPI_Comm_set_name(named, "solver");
    if (rank == 0) {
      MPI_Recv(&value, 1, MPI_INT, 1, 3, named, MPI_STATUS_IGNORE);
    } else {
      MPI_Barrier(named);
    }
  } else if (strcmp(which, "barriers") == 0) { /* the last rank stays out of the second one */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int round = 0; round < 3; ++round) MPI_Barrier(MPI_COMM_WORLD);
  } else if (strcmp(which, "allreduce") == 0) { /* one rank stays out */
    int sum = 0;
    if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int round = 0; round < 3; ++round) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  } else if (strcmp(which, "ended") == 0) { /* the partner has finished */
    if (rank == 0) MPI_Recv(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(which, "waitall") == 0) { /* requests of two kinds */
    MPI_Request requests[2];
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Issend(&rank, 1, MPI_INT, rank ^ 1, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  } else if (strcmp(which, "nonblocking") == 0) { /* a collective that one rank never starts */
    MPI_Request request;
    if (rank == 0) MPI_Recv(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (strcmp(which, "started") ==
             0) { /* one rank has started a collective, and all go on to the end */
    MPI_Request request;
    if (rank == 0) MPI_Ibarrier(MPI_COMM_WORLD, &request);
  } else if (strncmp(which, "window-", 7) == 0) {
    MPI_Win win;
    int* memory;
    MPI_Group all;
    MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_get_group(win, &all);
    if (strcmp(which, "window-lock") == 0) { /* the holder of a lock waits for one who wants it */
      if (rank == 1) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    } else if (rank == 0) { /* nobody posts what rank 0 starts */
      MPI_Win_start(all, 0, win);
    } else {
      MPI_Win_fence(0, win);
    }
  } else if (strcmp(which, "slow") == 0) { /* no deadlock: somebody only takes its time, more than once */
    for (int round = 0; round < 2; ++round) {
      if (rank == 0) sleep(1);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  } else if (strcmp(which, "transfer") == 0) { /* no deadlock: a large message takes its time */
    static char data[800000];
    if (rank == 0) MPI_Send(data, sizeof data, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(data, sizeof data, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(which, "input") == 0) { /* no deadlock: rank 0 waits for a line of input */
    char line[64] = "";
    if (rank == 0 && fgets(line, sizeof line, stdin) != NULL) printf("got %s", line);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
