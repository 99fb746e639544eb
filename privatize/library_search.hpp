// Where a needed library lies, by the dynamic linker's rules, and whether it belongs to the program (private,
// one copy per rank) or to the system (shared by all ranks).
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tmpi::privatize {

/// Who asks: the object with the DT_NEEDED entry.
struct SearchContext {
  std::string origin;   ///< directory of the asking object, for $ORIGIN
  std::string runpath;  ///< its DT_RUNPATH; if empty, rpaths applies
  std::vector<std::pair<std::string, std::string>>
      rpaths;  ///< (DT_RPATH, origin) of the object and of those that needed it
};

/// Path of `name` (a soname, or a path if it contains a slash), or empty if there is none.
std::string find_library(const std::string& name, const SearchContext& context);

enum class Ownership {
  kPrivate,  ///< one copy of its data per rank
  kShared,   ///< the system's: loaded once with dlopen
  kRuntime,  ///< libtmpi.so: satisfied by the node process itself
};

/// `path` as found by find_library, or empty.
Ownership ownership(const std::string& name, const std::string& path, bool private_libstdcxx);

}  // namespace tmpi::privatize
