// Built with the number of threads that the collection's scripts give, and with OpenMP.
#include <mpi.h>
#include <omp.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel num_threads(NUM_THREADS)
  if (omp_get_thread_num() == NUM_THREADS - 1) MPI_Barrier(MPI_COMM_SELF);
  return MPI_Finalize();
}
