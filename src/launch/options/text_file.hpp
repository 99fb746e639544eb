// What users give in files: hosts, programs, places of ranks.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace tmpi::launch {

/// The file's text; the path may name a pipe. Failure: why it cannot be read, or that it is no text or larger than any
/// file of `what` ("hosts").
Result<std::string> read_text_file(const std::string& path, std::string_view what);

/// What users have written, for messages: on one line and not too long.
std::string shown(std::string_view text);

}  // namespace tmpi::launch
