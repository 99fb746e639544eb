// The external32 representation (MPI report, 5.3, 15.5.2): every basic element big-endian with a fixed size,
// without gaps, in the order of the type map. It differs from memory in more than byte order: MPI_LONG has 4
// bytes, MPI_WCHAR 2, MPI_LONG_DOUBLE the 16 of IEEE binary128. No function suspends.
#pragma once

#include "mpi/datatype/datatype.hpp"

namespace tmpi::mpi {

/// Bytes of one element of the type in external32.
MPI_Count external_size(const Datatype& type);

/// Writes (buf, count, type) to `external`, which has room for count * external_size(type) bytes.
/// MPI_ERR_CONVERSION: an MPI_LONG or MPI_WCHAR has a value that its 4 or 2 bytes cannot hold.
Err pack_external(void* external, const void* buf, MPI_Count count, const Datatype& type);
/// The inverse.
void unpack_external(void* buf, MPI_Count count, const Datatype& type, const void* external);

}  // namespace tmpi::mpi
