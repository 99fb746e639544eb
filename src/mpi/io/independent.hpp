// What one rank reads or writes by itself. MPI report, 14.4.2. docs/design/files.md.
#pragma once

#include "mpi/io/access.hpp"
#include "mpi/io/hints.hpp"
#include "mpi/io/node_file.hpp"

namespace tmpi::mpi {

/// How an access is made: as the file was set when the call was made, for all members alike.
struct Manner {
  Hints hints;
  bool atomic = false;
};

/// Reads or writes; `done` becomes the bytes that were moved, from the front: fewer than asked if a file has ended,
/// or with an error. SUSPENDS where that is worth it.
Err transfer(NodeFile& file, const Manner& manner, const Access& access, MPI_Count& done);

}  // namespace tmpi::mpi
