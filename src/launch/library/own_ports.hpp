// The ports and names of a program that is started by itself: it has them to itself, and nobody can connect to it.
#pragma once

#include "mpi/rank/callbacks.hpp"

namespace tmpi::launch {

/// mpi::Callbacks::ports. Does not suspend.
mpi::PortAnswer own_ports(const mpi::Rank& rank, const mpi::PortCall& call);

}  // namespace tmpi::launch
