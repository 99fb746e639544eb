// What the calls of MPI_File_ that move data do: where their data are in the file, by which pointer, at once or as a
// request. Buffers and counts are as the user gave them. MPI report, 14.4. docs/design/files.md.
#pragma once

#include "mpi/io/file.hpp"
#include "mpi/io/user_data.hpp"

namespace tmpi::mpi {

/// Which pointer says where the data are.
enum class Pointer : unsigned char { kExplicit, kIndividual, kShared };

/// The arguments of a call.
struct FileCall {
  const char* name;  ///< of the MPI call
  Transfer transfer;
  Pointer pointer;
  MPI_Offset offset;  ///< kExplicit: in etypes
  void* buffer;       ///< not written through for a write
  MPI_Count count;
  MPI_Datatype type;
};

/// Of this rank alone. SUSPENDS where that is worth it.
Err move_alone(File& file, const FileCall& call, MPI_Status* status);
/// The same on a helper fiber. Does not suspend.
Err start_alone(File& file, const FileCall& call, MPI_Request* request);

/// Of all members; with the shared pointer: in the order of their ranks. SUSPENDS.
Err move_together(File& file, const FileCall& call, MPI_Status* status);
/// The same on a shadow communicator. Does not suspend. `request` null: an error, of which the others are told.
Err start_together(File& file, const FileCall& call, MPI_Request* request);

/// The two halves of a split collective. The second SUSPENDS.
Err begin_split(File& file, const FileCall& call);
Err end_split(File& file, const FileCall& call, MPI_Status* status);

/// Waits until no operation of the file is under way. SUSPENDS.
void settle(File& file) noexcept;

}  // namespace tmpi::mpi
