// LD_PRELOAD: its libraries become part of each rank's image set, in front, as they stand in front of a process's. Those
// that the dynamic linker has loaded into the node process already (LD_PRELOAD of tmpirun's environment) act there,
// unless they stand between programs and MPI (a profiling library, MPI report, chapter 15).
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace tmpi::privatize {

struct Preload {
  std::vector<std::string> libraries;  ///< paths, in order: for GroupOptions
  std::vector<std::string> others;     ///< as they were named: not a rank's, or not found
};

/// Tells the names in a value of LD_PRELOAD apart, which blanks and colons separate. `in_process`: the dynamic linker has
/// seen the same value. `search_path`: LD_LIBRARY_PATH. Failure: a library wraps MPI functions and cannot be used; what is wrong with it and what to do.
Result<Preload> read_preload(const std::string& value, const std::string& search_path, bool in_process);

}  // namespace tmpi::privatize
