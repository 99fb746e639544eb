// An exception that nobody catches, with and without a terminate handler of the rank.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool handled = argc > 1 && std::string(argv[1]) == "handled";
  if (handled && rank == 1) {
    std::set_terminate([] {
      std::printf("handler of rank 1\n");
      std::exit(0);
    });
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 1) throw std::runtime_error("nobody wants me");
  return 0;
}
