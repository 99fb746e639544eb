// For unit tests of the MPI library: runs a function on n ranks, on real fibers and workers, without images
// or a launcher.
#pragma once

#include <functional>
#include <string_view>

#include "base/sanitized.hpp"
#include "mpi/rank/rank.hpp"

namespace tmpi::mpi::testing {

/// Runs `body` once per rank on `workers` workers (block mapping), between MPI_Init and MPI_Finalize; returns
/// when all have finished. An error that ends the job fails the test. `policy` as in sched::Options.
void run_ranks(int ranks, int workers, const std::function<void(Rank&)>& body, const char* policy = "fifo");

/// For tests that must hold with 1, 2 and 3 workers under the policies fifo, lifo and random: is this one of the
/// combinations to run? A sanitizer sees most in any order: there each number of workers has one.
inline bool worth_running(int ranks, int workers, std::string_view policy) {
  if (workers > ranks) return false;
  if (!kSanitized) return true;
  if (ranks > 16 || (kThreadSanitized && workers == 1 && ranks > 1)) return false;
  return policy.substr(0, 4) == (workers == 1 ? "lifo" : workers == 2 ? "fifo" : "rand");
}

}  // namespace tmpi::mpi::testing
