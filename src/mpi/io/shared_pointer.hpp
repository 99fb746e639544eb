// The shared file pointer: a number in the node process of rank 0 of the file's communicator. Members there add to it;
// those of other node processes ask rank 0, on whose worker a helper fiber answers, whenever a task of the worker
// comes to a scheduling point. MPI report, 14.4.4. docs/design/files.md.
#pragma once

#include "mpi/io/file.hpp"

namespace tmpi::mpi {

/// Moves the pointer by `etypes` and returns where it was. SUSPENDS if it is in another node process.
Err move_shared_pointer(File& file, MPI_Offset etypes, MPI_Offset& before);

/// Each member gets its place behind those of lower ranks. All members; `comm` is the file's communicator or a shadow
/// of it. SUSPENDS.
Err move_in_order(Comm& comm, File& file, MPI_Offset etypes, MPI_Offset& before);

/// At rank 0, before any other member may ask; and when none will any more. The latter SUSPENDS.
void serve_shared_pointer(File& file);
void stop_serving(File& file) noexcept;

}  // namespace tmpi::mpi
