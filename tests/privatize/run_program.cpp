// privatize_run PROGRAM RANKS [ARGUMENT...]: the harness as a command, for gdb, perf and valgrind. Exit code:
// the largest of the ranks'.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/privatize/harness.hpp"

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s PROGRAM RANKS [ARGUMENT...]\n", argv[0]);
    return 2;
  }
  tmpi::test::RunOptions options;
  options.program = argv[1];
  options.ranks = std::atoi(argv[2]);
  options.arguments.assign(argv + 3, argv + argc);
  if (const char* shim = std::getenv("TMPI_TEST_SHIM")) options.shim = shim;
  options.leaves_threads = true;
  options.measure = std::getenv("TMPI_TEST_MEASURE") != nullptr;
  const tmpi::test::Outcome outcome = tmpi::test::run(options);
  if (!outcome.error.empty()) std::fprintf(stderr, "%s\n", outcome.error.c_str());
  if (options.measure) {
    std::printf("%d images: %.1f us and %.1f KB each\n", options.ranks,
                outcome.map_seconds * 1e6 / options.ranks,
                static_cast<double>(outcome.map_kilobytes) / options.ranks);
  }
  for (const std::string& failure : outcome.failures) std::fprintf(stderr, "%s\n", failure.c_str());
  if (!outcome.error.empty() || !outcome.failures.empty()) return 2;
  return *std::max_element(outcome.codes.begin(), outcome.codes.end());
}
