// checkpoint_streams FOLDER DIRECTORY: C++'s streams of files, saved in the middle of a line.
#include <mpi.h>
#include <mpix.h>
#include <fstream>
#include <iostream>
#include <string>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, restarted;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string path = std::string(argv[1]) + "/text." + std::to_string(rank);
  std::ofstream(path) << "one two three four\n";
  std::ifstream in(path);
  std::ofstream out(path + ".out");
  std::string word;
  in >> word;
  out << word << ' ';
  MPIX_Checkpoint(argv[2]);
  MPIX_Restarted(&restarted);
  if (rank == 0) std::cout << (restarted ? "restarted" : "saved") << std::endl;
  while (in >> word) out << word << ' ';
  out.close();
  std::ifstream written(path + ".out");
  std::getline(written, word);
  std::cout << "rank " + std::to_string(rank) + ": " + word + "\n" << std::flush;
  MPI_Finalize();
}
