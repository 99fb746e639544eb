// MPI_COMM_WORLD and MPI_COMM_SELF of a rank, from MPI_Init to MPI_Finalize.
#pragma once

namespace tmpi::mpi {

struct Rank;

/// Fills rank.world and rank.self. What WORLD's members have in common is one object of the node process. Any
/// worker; does not suspend.
void init_world(Rank& rank);

/// Drops what init_world set up, after the last call that uses it.
void finish_world(Rank& rank) noexcept;

}  // namespace tmpi::mpi
