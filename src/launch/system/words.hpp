// A command in one text, as users give it to an option.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tmpi::launch {

/// The words of `text`, separated by blanks; '...' and "..." keep together what is between them, and a backslash the
/// character behind it, but for one within '...'.
std::vector<std::string> split_words(std::string_view text);

}  // namespace tmpi::launch
