// An exception that nobody catches, thrown from a few named functions below main.
#include <mpi.h>

#include <stdexcept>
#include <vector>

namespace model {

struct Grid {
  std::vector<int> cells = std::vector<int>(4);
  [[gnu::noinline]] void step(int index) {
    volatile int* cell = index < 0 ? nullptr : &cells[0];
    *cell = index;
    if (index > 0) throw std::runtime_error("the grid is broken");
  }
};

}  // namespace model

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  model::Grid grid;
  if (rank == 1) grid.step(argc > 1 ? -1 : 1);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
}
