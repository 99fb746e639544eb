// What concerns a file as a whole, and its pointers. MPI report, 14.2, 14.3, 14.4.3, 14.6. Those for all members
// SUSPEND.
#pragma once

#include <string_view>

#include "mpi/io/file.hpp"

namespace tmpi::mpi {

class Info;

Err get_size(File& file, MPI_Offset& size);

// All members:
Err set_size(File& file, MPI_Offset size);
Err preallocate(File& file, MPI_Offset size);
Err sync(File& file);
Err set_atomicity(File& file, bool atomic);
/// Null types are no datatypes: an error that everybody is told of.
Err set_view(File& file, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
             std::string_view representation, const Info& info);
Err set_hints(File& file, const Info& info);
Err seek_shared(File& file, MPI_Offset offset, int whence);

Err seek(File& file, MPI_Offset offset, int whence);
Err byte_offset(const File& file, MPI_Offset offset, MPI_Offset& disp);
/// The extent that the type has in the file.
Err type_extent(const File& file, const Datatype& type, MPI_Count& extent);

}  // namespace tmpi::mpi
