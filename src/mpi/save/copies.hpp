// Checkpoints in the memory of hosts: the files of ranks go from node process to node process by messages. When a host is lost,
// so is its part of them; a copy lies on another one (docs/design/checkpoint.md).
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "mpi/rank/rank.hpp"

namespace tmpi::mpi {

/// The file of each rank is written by so many other node processes, too, as Saving::memory says. Collective over
/// MPI_COMM_WORLD; nothing else is under way. SUSPENDS. A sentence on the rank that has something to say; empty: nothing.
std::string spread_copies(Rank& rank, std::uint64_t number);

/// Finds the latest checkpoint of which the files of all ranks lie somewhere, and brings the calling rank's to its node
/// process. Begins MPI, but nothing else may have been done with it. All ranks. SUSPENDS. Failure: a sentence, the same on all
/// ranks if there is no such checkpoint.
Result<std::uint64_t> gather_files(Rank& rank);

}  // namespace tmpi::mpi
