// Where the wrapper's tmpi lies: an installed prefix, wherever it was moved to, or a build tree. Both look
// alike: bin/, lib/, include/.
#pragma once

#include <string>

#include "base/result.hpp"

namespace tmpi::wrapper {

struct Installation {
  std::string include;  ///< directory of mpi.h and mpif.h
  std::string library;  ///< directory of libtmpi.so
  std::string start;    ///< path of start.o
};

/// The directory of the modules mpi and mpi_f08 for the Fortran compiler `compiler` (a path or a name): that of tmpi's
/// own compiler, unless tmpi-fortran-modules has made one for this compiler. Module files are a compiler's own.
std::string module_directory(const Installation& installation, const std::string& compiler);

/// The installation that the running wrapper belongs to, found from its own path (/proc/self/exe).
Result<Installation> find_installation();

}  // namespace tmpi::wrapper
