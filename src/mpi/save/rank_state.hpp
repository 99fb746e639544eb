// What MPI knows of a rank, as data: read and written by nobody but these two (save.hpp).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "mpi/base/error.hpp"
#include "mpi/rank/rank.hpp"

namespace tmpi::mpi {

/// What cannot be saved of the calling rank, as the end of a sentence that begins with its number; empty: nothing. The first is
/// said of what the rank itself has under way, the second of messages, when all that have been sent are here.
std::string why_not_saved(Rank& rank);
std::string why_not_settled(Rank& rank);

std::vector<std::byte> saved_rank_state(Rank& rank);

/// Of a rank that has begun (init_world()): its objects are made again. False: `state` is damaged.
Err take_rank_state(Rank& rank, std::span<const std::byte> state);

}  // namespace tmpi::mpi
