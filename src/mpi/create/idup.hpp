// MPI_Comm_idup: a duplicate that is made when the last member has asked for it, while the others go on. MPI
// report, 7.4.2. No fiber waits: members leave their records at a keyed barrier, and whoever comes last makes
// what they share and completes their requests. With members in several node processes a helper fiber does
// it.
#pragma once

#include "mpi/base/info.hpp"
#include "mpi/comm/comm.hpp"

namespace tmpi::mpi {

/// Starts a duplication. Attributes are copied now (callbacks of the program: may SUSPEND); hints are
/// `hints`, or the parent's if null. `created` is no communicator (its handle is refused) until the request
/// is complete, but for setting its error handler, hints and name, and for freeing it (on_coming_comm()). An error of a copy callback is returned, with no request; the other members get theirs.
Err start_duplicate(Comm& parent, const Info* hints, Comm*& created, MPI_Request& request);

}  // namespace tmpi::mpi
