// Place: where a rank is blocked, in words: for the state dump of a running job and the deadlock report. Any
// thread.
#pragma once

#include <string>

#include "mpi/rank/rank.hpp"

namespace tmpi::mpi {

struct Place {
  std::string call;  ///< "MPI_Recv"; empty: none is known
  std::string
      detail;     ///< "from {} with tag 7 on MPI_COMM_WORLD": {} stands for `peer`; empty: nothing to add
  int peer = -1;  ///< world rank; -1: detail names none
};

/// Where the rank's own flow of control waits. `asleep`: nobody can wake it meanwhile, so that communicators
/// may be looked at (their names, the world ranks of peers); else only plain words are read.
Place place_of(const Rank& rank, bool asleep);

/// "MPI_COMM_WORLD", or what can be said of another communicator from its context id.
std::string name_of_context(ContextId context);

}  // namespace tmpi::mpi
