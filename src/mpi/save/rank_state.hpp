// What MPI knows of a rank, as data; revive() reads it (save.hpp).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mpi/base/error.hpp"
#include "mpi/rank/rank.hpp"

namespace tmpi::mpi {

/// What cannot be saved of the calling rank, as the end of a sentence that begins with its number; empty: nothing. Of messages:
/// under_way.hpp.
std::string why_not_saved(Rank& rank);

std::vector<std::byte> saved_rank_state(Rank& rank);

}  // namespace tmpi::mpi
