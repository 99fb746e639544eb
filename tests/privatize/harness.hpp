// Runs a program as many ranks on plain fibers in the calling thread, without the MPI library: the loader's
// tests.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "privatize/loader.hpp"

namespace tmpi::test {

struct Outcome {
  std::string error;                  ///< loading failed
  std::vector<int> codes;             ///< exit code per rank, -1: did not end
  std::vector<std::string> failures;  ///< CHECKs that failed inside ranks
  std::map<std::string, int> counts;  ///< test_count(), over all ranks
  long map_kilobytes = 0;  ///< memory that mapping has dirtied, with page tables (only if measured)
  double map_seconds = 0;  ///< processor time to map all images
};

struct RunOptions {
  std::string program;
  int ranks = 1;
  std::vector<std::string> arguments;
  std::string shim;
  privatize::LibraryChoices libraries;
  std::size_t stack_size = 256 << 10;
  bool measure = false;         ///< fill in map_kilobytes
  bool leaves_threads = false;  ///< when the ranks have ended: their images stay then
};

Outcome run(const RunOptions& options);

/// Path of a program that tests/privatize/CMakeLists.txt has built.
std::string program(const std::string& name);

}  // namespace tmpi::test
