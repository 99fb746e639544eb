// The selection table: which algorithm runs which collective, in one place (table.cpp). For each collective
// the first algorithm that works for the call and suits it is taken (algorithm.hpp); --coll (preferences.hpp)
// puts another one of the same collective first, which then only has to work.
#pragma once

#include <functional>
#include <span>

#include "mpi/coll/algorithm.hpp"

namespace tmpi::mpi {

/// All algorithms of a collective, in order of preference.
std::span<const std::reference_wrapper<const Algorithm>> algorithms(Collective collective) noexcept;

/// "ALLREDUCE" and the like, as in MPI_Allreduce.
const char* name_of(Collective collective) noexcept;

/// The algorithm for these arguments; null if none applies. `comm` is no intercommunicator. `part`: without
/// the user's choices (run_part).
const Algorithm* select(Comm& comm, const Args& args, bool part = false);

}  // namespace tmpi::mpi
