// Lines "NAME=value" of an environment.
#pragma once

#include <string>
#include <vector>

namespace tmpi::launch {

/// Puts the line into the place of an earlier one for the same name, or behind all.
void put_variable(std::vector<std::string>& lines, std::string line);

}  // namespace tmpi::launch
