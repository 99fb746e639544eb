// From MPI_Init to MPI_Finalize, and sessions beside, before, after or instead of them: MPI can be called as
// long as there is one of them. MPI report, 11.2 and 11.3.
#pragma once

#include "mpi/base/error.hpp"

namespace tmpi::mpi {

struct Rank;

/// A program that was started by itself calls MPI_Init or MPI_Session_init: makes the job of one rank.
Err start_singleton();

/// MPI_Init(_thread): WORLD and SELF exist from now on. MPI_ERR_OTHER if called twice.
Err initialize(Rank& rank, int required_thread_level);

/// What its threads may do from now on, if that is more than before.
void raise_thread_level(Rank& rank, int required);

/// MPI_Finalize: waits until the rank's own messages have left and every rank has come here. SUSPENDS.
Err finalize(Rank& rank);

/// MPI_Session_init; returns the thread level provided, which is that of MPI if it is usable already. Does
/// not suspend.
int open_session(Rank& rank, int required_thread_level);

/// MPI_Session_finalize. With the last use of MPI it waits until the rank's buffered messages have left:
/// SUSPENDS.
Err close_session(Rank& rank);

}  // namespace tmpi::mpi
