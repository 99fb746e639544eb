// RankProgram: what ranks run where a user has named a program. Mostly that program; a script's interpreter, where it is no
// shell; for a Python that cannot be mapped once per rank one of ours (python.hpp).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "privatize/loader.hpp"

namespace tmpi::launch {

struct RankProgram {
  std::string path;                    ///< of what the loader maps
  std::vector<std::string> arguments;  ///< argv
  std::string library = {};            ///< that `path` needs besides those that it names; empty: none
  std::string stands_for = {};         ///< the program whose place it takes; empty: it is that itself
};

/// What has been made of it.
struct LoadedProgram {
  std::unique_ptr<privatize::Group> group;
  std::vector<std::string> arguments;
};

/// Where names are looked up, and what a program that is asked has.
struct Surroundings {
  std::string wdir;                      ///< --wdir; empty: the process's
  std::vector<std::string> environment;  ///< -x: "NAME=value", over the process's own
  std::string search_path;               ///< LD_LIBRARY_PATH
};

/// `named`: the file to run and argv. A program that is neither a script nor a Python comes back as it is, whatever the
/// loader will say of it. Waits for programs that it asks; any thread but a rank's. Failure: a sentence.
Result<RankProgram> find_rank_program(RankProgram named, const Surroundings& surroundings);

}  // namespace tmpi::launch
