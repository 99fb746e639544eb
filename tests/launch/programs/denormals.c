/* Whether the rank computes with denormal numbers, before and after others have run. */
#include <float.h>
#include <mpi.h>
#include <stdio.h>

static int keeps(void) {
  volatile double small = DBL_MIN;
  small /= 4;
  volatile long long bits = *(volatile long long*)&small; /* a comparison would flush it, too */
  return bits != 0;
}

int main(int argc, char** argv) {
  const int kept = keeps();
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("%d %s\n", rank, keeps() != kept ? "changed" : kept ? "kept" : "flushed");
  MPI_Finalize();
  return 0;
}
