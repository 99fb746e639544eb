// What must be in a process from its start, before anything runs there: runtimes of sanitizers.
#pragma once

#include <string>
#include <vector>

namespace tmpi::privatize {

/// Paths of what the program itself needs of that kind and this process does not have, in order, as LD_PRELOAD takes
/// them. `search_path`: the ranks' LD_LIBRARY_PATH. None of a program that cannot be loaded, which is said elsewhere.
std::vector<std::string> missing_early_libraries(const std::string& program, const std::string& search_path);

}  // namespace tmpi::privatize
