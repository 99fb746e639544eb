/* Calls whose number, bytes and lines the test knows; "@name" marks the line of a call. Every rank sends its
 * right neighbour kRounds messages of kCount integers. */
#include <mpi.h>
#include <stdio.h>

enum { kRounds = 10, kCount = 100 };

static int out[kCount], in[kCount];

static void ring(int rank, int size) {
  int right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (int i = 0; i < kRounds; i++) {
    if (rank % 2 == 0) MPI_Send(out, kCount, MPI_INT, right, i, MPI_COMM_WORLD);        /* @send */
    MPI_Recv(in, kCount, MPI_INT, left, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);          /* @recv */
    if (rank % 2 == 1) MPI_Send(out, kCount - rank, MPI_INT, right, i, MPI_COMM_WORLD); /* @send_odd */
  }
}

int main(int argc, char** argv) {
  int rank, size;
  double sum, one = 1, many[64] = {0};
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  ring(rank, size);
  for (int i = 0; i < 3; i++)
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);                   /* @allreduce */
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, many, 2, MPI_DOUBLE, MPI_COMM_WORLD); /* @alltoall */
  MPI_Scatter(many, 3, MPI_DOUBLE, &many[32], 3, MPI_DOUBLE, 1, MPI_COMM_WORLD);         /* @scatter */
  MPI_Send_init(out, 5, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);            /* @nobody */
  MPI_Request_free(&request);
  MPI_Send_init(out, 5, MPI_SHORT, rank, 77, MPI_COMM_WORLD, &request);
  MPI_Start(&request);                                                                          /* @start */
  MPI_Recv(in, 100, MPI_SHORT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @any */
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  MPI_Send_c(out, 7, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD); /* @null */
  PMPI_Barrier(MPI_COMM_WORLD);                                  /* @barrier */
  MPI_Finalize();
  return 0;
}
