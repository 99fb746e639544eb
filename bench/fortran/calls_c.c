/* The loops of calls.F90 in C. */
#include <mpi.h>

void by_c_(MPI_Fint* number, MPI_Fint* count, double* seconds);

void by_c_(MPI_Fint* number, MPI_Fint* count, double* seconds) {
  const MPI_Comm comm = MPI_Comm_f2c(*number);
  const int n = *count;
  int a[100] = {0};
  MPI_Status status;
  MPI_Request request;
  double start = MPI_Wtime();
  for (int i = 0; i < n; i++) MPI_Send(a, 10, MPI_INT, MPI_PROC_NULL, 1, comm);
  seconds[0] = MPI_Wtime() - start;
  start = MPI_Wtime();
  for (int i = 0; i < n; i++) MPI_Recv(a, 10, MPI_INT, MPI_PROC_NULL, 1, comm, &status);
  seconds[1] = MPI_Wtime() - start;
  start = MPI_Wtime();
  for (int i = 0; i < n; i++) {
    MPI_Isend(a, 10, MPI_INT, MPI_PROC_NULL, 1, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  seconds[2] = MPI_Wtime() - start;
  start = MPI_Wtime();
  for (int i = 0; i < n; i++) MPI_Comm_rank(comm, a);
  seconds[3] = MPI_Wtime() - start;
}
