// Where a needed library lies, by the dynamic linker's rules.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tmpi::privatize {

class ElfFile;

/// Who asks: the object with the DT_NEEDED entry.
struct SearchContext {
  std::string library_path;  ///< the rank's LD_LIBRARY_PATH
  std::string origin;        ///< directory of the asking object, for $ORIGIN
  std::string runpath;       ///< its DT_RUNPATH; if empty, rpaths applies
  std::vector<std::pair<std::string, std::string>>
      rpaths;  ///< (DT_RPATH, origin) of the object and of those that needed it
};

/// Of what `file` needs, without what the objects that needed it say. `library_path`: the rank's LD_LIBRARY_PATH.
SearchContext search_context(const ElfFile& file, const std::string& library_path);

/// Path of `name` (a soname, or a path if it contains a slash), or empty if there is none.
std::string find_library(const std::string& name, const SearchContext& context);

}  // namespace tmpi::privatize
