#include "launch/wire/rank_ranges.hpp"

#include <fmt/core.h>

namespace tmpi::launch {

std::string rank_ranges(const std::vector<std::pair<int, int>>& ranges) {
  constexpr std::size_t kMostRanges = 12;
  std::vector<std::pair<int, int>> joined;
  for (const auto& [first, count] : ranges) {
    if (count <= 0) continue;
    if (!joined.empty() && joined.back().first + joined.back().second == first) {
      joined.back().second += count;
    } else {
      joined.emplace_back(first, count);
    }
  }
  if (joined.empty()) return "no ranks";
  std::string text = joined.size() == 1 && joined[0].second == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < joined.size(); ++i) {
    if (i == kMostRanges) return text + ",...";
    const auto& [first, count] = joined[i];
    text += fmt::format("{}{}", i == 0 ? "" : ",", first);
    if (count > 1) text += fmt::format("-{}", first + count - 1);
  }
  return text;
}

}  // namespace tmpi::launch
