/* A bit of everything, by itself: for memcheck. Its argument is a file to be written. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  if (argc != 2) return 2;
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int in = rank, out = 0;
  MPI_Request r[2];
  MPI_Irecv(&out, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(&in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &r[1]);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  double* big = malloc(1 << 20);
  for (int i = 0; i < (1 << 17); ++i) big[i] = i;
  double* big2 = malloc(1 << 20);
  MPI_Sendrecv(big, 1 << 17, MPI_DOUBLE, 0, 2, big2, 1 << 17, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Comm dup;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  int sum;
  MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, dup);
  MPI_Request ir;
  MPI_Iallreduce(&in, &sum, 1, MPI_INT, MPI_SUM, dup, &ir);
  MPI_Wait(&ir, MPI_STATUS_IGNORE);
  MPI_Win w;
  MPI_Win_create(big, 1 << 20, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
  MPI_Win_fence(0, w);
  MPI_Put(big2, 4, MPI_DOUBLE, 0, 0, 4, MPI_DOUBLE, w);
  MPI_Win_fence(0, w);
  MPI_Win_free(&w);
  MPI_Datatype t;
  MPI_Type_vector(4, 2, 3, MPI_INT, &t);
  MPI_Type_commit(&t);
  MPI_Type_free(&t);
  MPI_File f;
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
  MPI_File_write_all(f, big, 10, MPI_DOUBLE, MPI_STATUS_IGNORE);
  MPI_File_close(&f);
  MPI_Comm_free(&dup);
  free(big);
  free(big2);
  printf("sum %d\n", sum);
  MPI_Finalize();
  return 0;
}
