// Formatted text at the end of a string.
#pragma once

#include <fmt/core.h>

#include <string>

namespace tmpi {

/// Not by fmt::format_to, which compiles all of fmt into each file that calls it.
template <class... Arguments>
void append(std::string& text, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  text += fmt::vformat(format, fmt::make_format_args(arguments...));
}

}  // namespace tmpi
