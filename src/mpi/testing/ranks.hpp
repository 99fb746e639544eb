// For unit tests of the MPI library: runs a function on n ranks, on real fibers and workers, without images
// or a launcher.
#pragma once

#include <functional>

#include "mpi/rank/rank.hpp"

namespace tmpi::mpi::testing {

/// Runs `body` once per rank on `workers` workers (block mapping), between MPI_Init and MPI_Finalize; returns
/// when all have finished. An error that ends the job fails the test. `policy` as in sched::Options.
void run_ranks(int ranks, int workers, const std::function<void(Rank&)>& body, const char* policy = "fifo");

}  // namespace tmpi::mpi::testing
