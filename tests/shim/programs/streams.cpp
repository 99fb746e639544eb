// C and C++ output of many ranks: formats that stick, order, a stream that one rank closes, one that goes
// into a file.
#include <mpi.h>

#include <cstdio>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <string>

namespace {

struct Goodbye {
  ~Goodbye() { std::cout << "goodbye " << rank << "\n"; }
  int rank = -1;
} goodbye;

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  goodbye.rank = rank;
  if (rank % 2 == 1) std::cout << std::hex << std::setfill('*');
  MPI_Barrier(MPI_COMM_WORLD);
  std::cout << "number " << rank << " " << std::setw(4) << 255;
  std::printf(" c");
  MPI_Barrier(MPI_COMM_WORLD);
  std::cout << " cxx" << std::endl;
  std::wcout << L"wide " << rank << std::endl;
  std::cerr << "error " << rank << "\n";
  if (rank == 0) std::fclose(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    const std::string name = argv[1];
    std::freopen(name.c_str(), "w", stdout);
    std::cout << "into the file\n";
    std::printf("and on\n");
  }
  std::cout << "closed by nobody " << rank << "\n";
  MPI_Finalize();
  return 0;
}
