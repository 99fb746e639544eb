// suggest: the known word that a mistyped one was most likely meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tmpi::launch {

/// The word of `known` nearest to `word`, empty if none is near enough to be worth a guess.
std::string suggest(std::string_view word, const std::vector<std::string>& known);

}  // namespace tmpi::launch
