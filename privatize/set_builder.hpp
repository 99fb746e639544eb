// Builds an ImageSet from a file: finds what it needs, opens the system's libraries, adds the program's own,
// resolves everything.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "privatize/image_set.hpp"

namespace tmpi::privatize {

struct SetRequest {
  std::string path;
  ElfFile::Role role = ElfFile::Role::kProgram;
  std::string shim;                    ///< empty: none
  std::vector<std::string> preload;    ///< libraries that are searched next after `path`
  std::vector<const Object*> parents;  ///< objects of other sets of the same rank, searched first (dlopen)
  /// If set, private libraries that are needed become sets of their own: opens the one at `path` and returns
  /// its objects (itself first, then what it needs).
  std::function<Result<std::vector<const Object*>>(const std::string& path)> open_needed;
  int images = 1;
  bool check_limit = true;  ///< against vm.max_map_count, for all images
  bool private_libstdcxx = false;
};

/// The set, ready to map images. Not thread-safe against itself: one call at a time.
Result<std::unique_ptr<ImageSet>> build_set(const SetRequest& request);

}  // namespace tmpi::privatize
