// From MPI_Init to MPI_Finalize. MPI report, 11.2.
#pragma once

#include "mpi/core/error.hpp"

namespace tmpi::mpi {

struct Rank;

/// A program that was started by itself calls MPI_Init: makes the job of one rank.
void start_singleton();

/// MPI_Init(_thread): WORLD and SELF exist from now on. MPI_THREAD_SERIALIZED is the most that is provided.
/// MPI_ERR_OTHER if called twice.
Err initialize(Rank& rank, int required_thread_level);

/// MPI_Finalize: waits until the rank's own messages have left and every rank has come here. SUSPENDS.
Err finalize(Rank& rank);

}  // namespace tmpi::mpi
