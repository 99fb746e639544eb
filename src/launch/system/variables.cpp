#include "launch/system/variables.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace tmpi::launch {

void put_variable(std::vector<std::string>& lines, std::string line) {
  const std::string_view name = std::string_view(line).substr(0, line.find('=') + 1);
  const auto earlier =
      std::ranges::find_if(lines, [&](const std::string& each) { return each.starts_with(name); });
  if (earlier == lines.end()) {
    lines.push_back(std::move(line));
  } else {
    *earlier = std::move(line);
  }
}

}  // namespace tmpi::launch
