// The selection table: which algorithm runs which collective, declared in one place (table.cpp). For each
// collective the first row that applies is taken. An option of the launcher may put another row of the same
// collective first, as long as it applies.
#pragma once

#include <span>

#include "mpi/coll/algorithms.hpp"

namespace tmpi::mpi {

/// What a row may depend on. Everything here is the same for all members of a correct program, so all of them
/// choose alike; what members cannot know of each other (the counts of the v-variants) is not here.
struct Query {
  int ranks = 1;
  int nodes = 1;
  MPI_Count bytes = 0;       ///< reductions: of one member's vector; exchanges: 0
  MPI_Count cell_limit = 0;  ///< bytes a member can leave behind (cells.hpp)
  bool commutative = true;
  bool dense = true;      ///< elements may be copied as bytes
  bool in_place = false;  ///< collectives where MPI_IN_PLACE is passed by all members or none
};

struct Algorithm {
  Collective collective;
  const char* name;  ///< for options and reports: "cells", "segments", ...
  bool (*applies)(const Query& query);
  Err (*run)(Comm& comm, Args& args);
};

/// All rows of a collective, in order of preference.
std::span<const Algorithm> algorithms(Collective collective) noexcept;

/// "ALLREDUCE" and the like, as in MPI_Allreduce.
const char* name_of(Collective collective) noexcept;

/// The row for these arguments; null if none applies.
const Algorithm* select(Comm& comm, const Args& args);

}  // namespace tmpi::mpi
