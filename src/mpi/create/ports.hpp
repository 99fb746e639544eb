// Connections: ranks that share no communicator find each other by the name of a port, or by a socket between two of
// them. MPI report, 11.9. Who has opened which port, and who is at its other end, is the launcher's affair
// (Callbacks::ports). docs/design/dynamic-processes.md. All SUSPEND.
#pragma once

#include <string>

#include "mpi/comm/comm.hpp"
#include "mpi/rank/callbacks.hpp"

namespace tmpi::mpi {

/// Ports and names, for the calling rank. MPI_ERR_PORT, MPI_ERR_NAME, MPI_ERR_SERVICE.
Err ask_ports(Rank& rank, const PortCall& call, PortAnswer& answer);

/// What the root of MPI_Comm_accept or MPI_Comm_connect wants: the port's name, or the error that it has found.
struct PortWish {
  bool accepts = false;
  std::string port;
  double timeout =
      0;  ///< seconds after which nobody is expected at the other end any more; 0: as long as it takes
  int error = MPI_SUCCESS;
  std::string why;
};

/// All members of the intracommunicator `comm` come; `wish` matters at rank `root` only. MPI_ERR_PORT, or the root's
/// error, at all members. MPI_ERR_COMM at both ends: the groups have members in common.
Err accept_or_connect(Comm& comm, int root, const PortWish& wish, Comm*& created);

/// MPI_Comm_join: the other end of the socket `fd` does the same. `created` stays null: the other end is of another job,
/// or this process itself. What comes from another MPI is MPI_ERR_PORT; what is no connected socket is MPI_ERR_ARG.
Err join(Rank& rank, int fd, Comm*& created);

}  // namespace tmpi::mpi
