// What MPI_Get_library_version says.
#pragma once

#include <string>

namespace tmpi::mpi {

/// "tmpi 0.1.0 (MPI 5.0 ABI, ...)".
const std::string& library_version();

}  // namespace tmpi::mpi
