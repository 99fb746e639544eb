// Collective operations below the C interface. Arguments have been checked. Every member of the communicator
// calls the same functions in the same order. MPI report, chapter 6. docs/design/collectives.md explains them.
#pragma once

#include "mpi/coll/args.hpp"
#include "mpi/comm/comm.hpp"

namespace tmpi::mpi {

/// Returns when all members have come. SUSPENDS.
Err barrier(Comm& comm);

/// Runs the algorithm that the selection table (table.hpp) names for these arguments. SUSPENDS as far as the
/// operation demands.
Err run(Comm& comm, Args& args);

/// The same as part of a collective on the communicator that `part` has been taken from (hierarchy/): without
/// the user's choice of algorithms, which was for the whole. SUSPENDS likewise.
Err run_part(Comm& part, Args& args);

}  // namespace tmpi::mpi
