// own_file_cxx PATH: as own_file, by std::filesystem.
#include <mpi.h>

#include <cstdio>
#include <filesystem>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, sum;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int right = std::filesystem::read_symlink("/proc/self/exe") == argv[1] &&
              std::filesystem::canonical("/proc/self/exe") == argv[1];
  MPI_Reduce(&right, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d of %d\n", sum, size);
  MPI_Finalize();
  return 0;
}
