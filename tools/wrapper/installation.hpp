// Where the wrapper's tmpi lies: an installed prefix, wherever it was moved to, or a build tree. Both look
// alike: bin/, lib/, include/.
#pragma once

#include <string>

#include "base/result.hpp"

namespace tmpi::wrapper {

struct Installation {
  std::string include;  ///< directory of mpi.h
  std::string library;  ///< directory of libtmpi.so
  std::string start;    ///< path of start.o
};

/// The installation that the running wrapper belongs to, found from its own path (/proc/self/exe).
Result<Installation> find_installation();

}  // namespace tmpi::wrapper
