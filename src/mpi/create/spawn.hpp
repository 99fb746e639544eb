// Spawning: new ranks, and the intercommunicator to them. MPI report, 11.8. Which processes run them, and how they are
// started, is the launcher's affair (Callbacks::spawn). docs/design/dynamic-processes.md.
#pragma once

#include <vector>

#include "mpi/comm/comm.hpp"
#include "mpi/rank/callbacks.hpp"

namespace tmpi::mpi {

/// What the root of MPI_Comm_spawn wants: its arguments, or the error that it has found in them.
struct SpawnWish {
  std::vector<SpawnCommand> commands;
  std::vector<int> most;  ///< maxprocs of each command
  int error = MPI_SUCCESS;
  std::string why;
};

/// All members of the intracommunicator `comm` come; `wish` matters at rank `root` only. `codes`, unless it is MPI_ERRCODES_IGNORE:
/// an error class for each process that was wanted, at every member. MPI_ERR_SPAWN, or the root's error, at all members. SUSPENDS.
Err spawn(Comm& comm, int root, const SpawnWish& wish, Comm*& created, int* codes);

/// The calling rank's intercommunicator to those who have spawned its world: each rank of that takes it once. Does not
/// suspend.
Comm* take_parent(Rank& rank);

}  // namespace tmpi::mpi
