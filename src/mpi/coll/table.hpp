// The selection table: which algorithm runs which collective, declared in one place (table.cpp). For each
// collective the first row that works for the call and suits it is taken; --coll (preferences.hpp) puts
// another row of the same collective first, which then only has to work.
#pragma once

#include <span>

#include "mpi/coll/algorithms.hpp"

namespace tmpi::mpi {

/// What a row may depend on. Everything here is the same for all members of a correct program, so all of them
/// choose alike; what members cannot know of each other (the counts of the v-variants) is not here.
struct Query {
  int ranks = 1;
  int nodes = 1;             ///< node processes that members live in
  int most_on_node = 1;      ///< members on one of them; with nodes == 1 not looked up
  int fewest_on_node = 1;    ///< likewise
  bool contiguous = true;    ///< each node's members are neighbours in rank order; likewise
  MPI_Count bytes = 0;       ///< of one member's vector (reductions), chunk, or message; 0 if ragged, but for
                             ///< reduce_scatter, where what is more than a cell_limit counts as one more
  MPI_Count cell_limit = 0;  ///< bytes a member can leave behind (cells.hpp)
  bool commutative = true;
  bool dense = true;      ///< elements may be copied as bytes
  bool in_place = false;  ///< collectives where MPI_IN_PLACE is passed by all members or none
  bool ragged = false;    ///< the v- and w-variants
};

struct Algorithm {
  Collective collective;
  const char* name;  ///< for --coll and reports: "cells", "segments", ...
  bool (*works)(const Query& query);
  bool (*suits)(const Query& query);
  Err (*run)(Comm& comm, Args& args);
  const char* when;  ///< both conditions in words, for --coll help
  // How it does without a flow of control that waits (algorithms.hpp); null: it cannot, or never leaves a
  // guest.
  bool (*begins)(Comm& comm, const Args& args) = nullptr;
  void (*end)(Comm& comm, Args& args) = nullptr;
};

/// All rows of a collective, in order of preference.
std::span<const Algorithm> algorithms(Collective collective) noexcept;

/// "ALLREDUCE" and the like, as in MPI_Allreduce.
const char* name_of(Collective collective) noexcept;

/// The row for these arguments; null if none applies. `comm` is no intercommunicator. `part`: without the
/// user's choices (run_part).
const Algorithm* select(Comm& comm, const Args& args, bool part = false);

}  // namespace tmpi::mpi
