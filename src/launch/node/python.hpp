// Pythons that cannot be mapped once per rank, as Debian's /usr/bin/python3, which lies at fixed addresses. Ranks run
// tmpi-python in its place, a program that holds nothing but a call of Python's library of the same version
// (docs/guide/python.md). What the library takes for its Python, sys.executable and the directories of modules, depends on
// argv[0] and PATH only: those stay as they are.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace tmpi::launch {

/// What a Python says of itself.
struct PythonFacts {
  std::string executable;         ///< sys.executable
  std::string prefix;             ///< sys.base_exec_prefix: it was installed there
  std::string version;            ///< "3.11", with the letters of its build: "3.13t"
  bool library_has_main = false;  ///< its libpython has what tmpi-python calls (since 3.8)
};

/// Starts the program at `path`, under the name `name`, and asks it. `environment`: "NAME=value" lines put over the
/// process's own. It may be a script in front of a Python, of pyenv's kind. Waits for it, some milliseconds; any thread
/// but a rank's. Failure: what it has done instead.
Result<PythonFacts> ask_python(const std::string& path, const std::string& name,
                               const std::vector<std::string>& environment);

/// The path of the libpython that belongs to it. `search_path`: LD_LIBRARY_PATH. Failure: there is none; how to get it.
Result<std::string> find_python_library(const PythonFacts& python, const std::string& search_path);

}  // namespace tmpi::launch
