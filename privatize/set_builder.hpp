// Builds an ImageSet from a file: finds what it needs, opens what is shared, adds what is a rank's own, resolves
// everything.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "privatize/image_set.hpp"
#include "privatize/ownership.hpp"

namespace tmpi::privatize {

struct SetRequest {
  std::string path;
  ElfFile::Role role = ElfFile::Role::kProgram;
  std::string shim;                   ///< empty: none
  std::vector<std::string> preload;   ///< libraries that are searched next after `path`
  std::vector<std::string> needed;    ///< libraries that `path` needs besides those that it names
  const ImageSet* program = nullptr;  ///< the rank's, if this is a library that it opens (dlopen)
  std::vector<const Object*> global;  ///< then: of libraries that it has opened with RTLD_GLOBAL
  bool own_first = false;             ///< then: RTLD_DEEPBIND
  /// If set, private libraries that are needed become sets of their own: opens the one at `path` and returns
  /// its objects (itself first, then what it needs).
  std::function<Result<std::vector<const Object*>>(const std::string& path)> open_needed;
  int images = 1, expected = 1;  ///< as ImageSet has them
  bool check_limit = true;       ///< against vm.max_map_count, for all images
  LibraryChoices libraries;
  std::string stands_for;  ///< the program that it takes the place of (ImageSet::program_file)
};

/// The set, ready to map images. Not thread-safe against itself: one call at a time.
Result<std::unique_ptr<ImageSet>> build_set(const SetRequest& request);

/// A library that a program needs, as `tmpirun --show-libraries` tells of it.
struct LibraryRow {
  std::string name;  ///< as it was asked for; the program's own file name for the first
  std::string path;  ///< empty: nowhere, the node process stands in for it
  LibraryOwner owner;
  std::uint64_t data = 0;       ///< bytes that each rank has of its own: writable segments and thread-locals
  std::string instead_of = {};  ///< of MPI: another one's library that would be found; empty: none
};

/// The program and what it needs, in the order in which symbols are searched.
Result<std::vector<LibraryRow>> list_libraries(const SetRequest& request);

}  // namespace tmpi::privatize
