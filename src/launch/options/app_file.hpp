// A file of programs: Open MPI's --app and Hydra's -configfile.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace tmpi::launch {

/// One line of it, as the words between two ':' of a command line.
struct AppFileLine {
  int number = 0;  ///< in the file, from 1 on
  std::vector<std::string> words;
};

/// Lines without words are left out; a comment begins with a # that begins a word; a line that ends with a backslash goes
/// on in the next one, and a ':' at the end of a line says nothing. Failure: there is none.
Result<std::vector<AppFileLine>> parse_app_file(std::string_view text);

/// Failure: also that the file cannot be read.
Result<std::vector<AppFileLine>> read_app_file(const std::string& path);

}  // namespace tmpi::launch
