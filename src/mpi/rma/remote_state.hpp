// RemoteState: what a rank has under way to members of a window on other nodes. Used under the lock of the protocol
// layer (remote/engine.hpp).
#pragma once

#include <vector>

#include "mpi.h"
#include "mpi/remote/listening.hpp"
#include "mpi/request/wait_list.hpp"

namespace tmpi::mpi {

struct RemoteState {
  /// By node. Operations to a node are done there in order, so an answer to one speaks for all before it.
  struct Peer {
    int answers = 0;          ///< that have been asked for and have not come
    int transfers = 0;        ///< operations whose buffers at the origin are still in use
    int sending = 0;          ///< of them accumulates that have not been sent as a whole
    bool unanswered = false;  ///< operations have followed the last that asks for an answer
  };
  std::vector<Peer> peers;
  std::vector<int> granted;  ///< members whose locks have been granted, until who asked for it has seen it
  int error = MPI_SUCCESS;   ///< a target has refused an operation; told at the next synchronization
  WaitList waiting;          ///< for any of this to change
  remote::Listening listening;

  Peer& at(int node) noexcept { return peers[static_cast<std::size_t>(node)]; }
};

}  // namespace tmpi::mpi
