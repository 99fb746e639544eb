// Whose a library is: a rank's (one copy of its data per rank) unless the table of shared libraries
// (shared_libraries.hpp) or the user (--share-library, --private-library) says otherwise.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace tmpi::privatize {

enum class Ownership {
  kPrivate,  ///< one copy of its data per rank
  kShared,   ///< loaded once, with dlopen
  kRuntime,  ///< libtmpi.so: satisfied by the node process itself
};

/// What the user has said of libraries; names as `libfoo.so.3`, `libfoo.so` or `libfoo`.
struct LibraryChoices {
  std::vector<std::string> shared, own;
  std::string search_path;  ///< the ranks' LD_LIBRARY_PATH
};

struct LibraryOwner {
  Ownership ownership = Ownership::kPrivate;
  std::string_view why;  ///< a phrase, for tables
};

/// `name`: the soname, or a path that ends in it.
LibraryOwner library_owner(std::string_view name, const LibraryChoices& choices);

/// MPI's procedures for Fortran (libmpifort_abi): a rank's own, but tmpi's, whosever a program would find.
bool is_fortran_runtime(std::string_view name);

/// Failure: a library that cannot be what the user wants.
Result<void> check_choices(const LibraryChoices& choices);

}  // namespace tmpi::privatize
