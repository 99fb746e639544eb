// LD_PRELOAD: a library of it that stands between programs and MPI (a profiling library, MPI report, chapter
// 15) becomes part of each rank's image set, in front, so that the program's MPI calls bind to it. All others are
// the dynamic linker's affair, which has loaded them into the node process.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace tmpi::privatize {

struct Preload {
  std::vector<std::string> profiling;  ///< paths, in order: for GroupOptions
  std::vector<std::string> others;     ///< as they were named: no profiling libraries, or not found
};

/// Tells the names in a value of LD_PRELOAD apart, which blanks and colons separate. Failure: a library wraps
/// MPI functions and cannot be used; what is wrong with it and what to do.
Result<Preload> read_preload(const std::string& value);

}  // namespace tmpi::privatize
