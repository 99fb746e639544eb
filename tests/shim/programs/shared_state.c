/* What all ranks of a node share: --check names it. */
#include <malloc.h>
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  mallopt(M_TRIM_THRESHOLD, 1 << 20);
  malloc_trim(0);
  MPI_Finalize();
  return 0;
}
