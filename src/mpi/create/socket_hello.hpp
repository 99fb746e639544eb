// What the two ends of MPI_Comm_join say to each other over the program's socket: a fixed number of bytes each way, so
// that nothing of the program's is read. MPI report, 11.10.4.
#pragma once

#include <string>

#include "mpi/base/error.hpp"

namespace tmpi::mpi {

/// MPI_ERR_ARG: `fd` is no connected stream socket. Does not suspend.
Err check_socket(int fd);

/// Sends `mine` and receives the other end's port name. MPI_ERR_PORT: the other end has closed the socket, or what it says
/// is not tmpi's. Does not hold the worker while it waits, however long that is. SUSPENDS.
Err exchange_ports(int fd, const std::string& mine, std::string& other);

}  // namespace tmpi::mpi
