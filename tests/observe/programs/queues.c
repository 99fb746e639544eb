// Known sends, receives and unexpected messages on communicators with names, while rank 0 reads its input.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  kSmall = 11,
  kSynchronous = 22,
  kLarge = 33,
  kNever = 7,
  kDone = 5,
  kGo = 100,
  kLargeCount = 200000,
  kMany = 9
};

static void receive(MPI_Comm comm, int source, int tag, int count) {
  double* into = malloc((size_t)count * sizeof *into);
  MPI_Recv(into, count, MPI_DOUBLE, source, tag, comm, MPI_STATUS_IGNORE);
  free(into);
}

static void first(MPI_Comm everyone, MPI_Comm halves) {
  double never[100], done[2], many[kMany];
  MPI_Request requests[2], of_halves[kMany];
  MPI_Irecv(never, 100, MPI_DOUBLE, MPI_ANY_SOURCE, kNever, everyone, &requests[0]);
  MPI_Irecv(done, 2, MPI_DOUBLE, 1, kDone, everyone, &requests[1]);
  for (int i = 0; i < kMany; ++i)
    MPI_Irecv(&many[i], 1, MPI_DOUBLE, 0, i == 4 ? MPI_ANY_TAG : i, halves, &of_halves[i]);
  MPI_Send(NULL, 0, MPI_DOUBLE, 1, kGo, everyone);
  for (int source = 1; source <= 3; ++source) MPI_Probe(source, source * 11, everyone, MPI_STATUS_IGNORE);
  int flag = 0;
  while (!flag) MPI_Request_get_status(requests[1], &flag, MPI_STATUS_IGNORE);
  printf("waiting\n");
  fflush(stdout);
  while (getchar() != '\n') continue;
  receive(everyone, 1, kSmall, 1);
  receive(everyone, 2, kSynchronous, 10);
  receive(everyone, 3, kLarge, kLargeCount);
  for (int rank = 1; rank < 4; ++rank) MPI_Send(NULL, 0, MPI_DOUBLE, rank, kGo, everyone);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  MPI_Waitall(kMany, of_halves, MPI_STATUSES_IGNORE);
}

static void other(int rank, MPI_Comm everyone, MPI_Comm halves) {
  double* data = calloc(kLargeCount, sizeof *data);
  MPI_Request request;
  if (rank == 1) {
    receive(everyone, 0, kGo, 0);
    MPI_Send(data, 2, MPI_DOUBLE, 0, kDone, everyone);
    MPI_Send(data, 1, MPI_DOUBLE, 0, kSmall, everyone);
  } else if (rank == 2) {
    MPI_Issend(data, 10, MPI_DOUBLE, 0, kSynchronous, everyone, &request);
  } else {
    MPI_Send(data, kLargeCount, MPI_DOUBLE, 0, kLarge, everyone);
  }
  receive(everyone, 0, kGo, 0);
  if (rank == 1) MPI_Send(data, 100, MPI_DOUBLE, 0, kNever, everyone);
  if (rank == 2) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < kMany; ++i) MPI_Send(data, 1, MPI_DOUBLE, 1, i, halves);
  }
  free(data);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Comm everyone, halves;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &everyone);
  MPI_Comm_set_name(everyone, "everyone");
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &halves);
  MPI_Comm_set_name(halves, rank % 2 ? "odd" : "even");
  MPI_Comm freed;
  MPI_Comm_dup(MPI_COMM_SELF, &freed);
  MPI_Comm_free(&freed);
  if (rank == 0)
    first(everyone, halves);
  else
    other(rank, everyone, halves);
  MPI_Comm_free(&everyone);
  MPI_Comm_free(&halves);
  return MPI_Finalize();
}
