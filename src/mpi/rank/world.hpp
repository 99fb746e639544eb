// World: ranks that were started together and have an MPI_COMM_WORLD in common: those of tmpirun's command line, or
// those of one MPI_Comm_spawn. Ranks are numbered through all worlds of a job: a world's rank 0 is number `first` of the
// job, and "world rank" elsewhere in the library means that number. docs/design/dynamic-processes.md.
#pragma once

#include <memory>
#include <mutex>

#include "mpi/comm/comm.hpp"

namespace tmpi::mpi {

/// The intercommunicator between a spawned world and those who have spawned it, before it is made: the parents are side
/// 0. As Sides (create/making.hpp).
struct ParentLink {
  std::shared_ptr<const Group> parents;  ///< null: the world was not spawned
  ContextId context = 0;
  ContextId locals[2] = {};
};

struct World {
  int number = 0;  ///< among the worlds of the job; 0: tmpirun's
  int first = 0;
  int size = 0;
  ContextId context = kWorldContext;  ///< of its MPI_COMM_WORLD
  ParentLink link;

  // What the members' MPI_COMM_WORLDs have in common in this node process: made by the first that comes, gone with the
  // last: a process may run one job after another (unit tests do).
  std::mutex mutex;
  std::weak_ptr<CommShared> shared;
};

}  // namespace tmpi::mpi
