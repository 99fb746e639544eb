#include "launch/wire/rank_ranges.hpp"

#include <fmt/core.h>

namespace tmpi::launch {

namespace {

using Ranges = std::vector<std::pair<int, int>>;

Ranges joined(const Ranges& ranges) {
  Ranges all;
  for (const auto& [first, count] : ranges) {
    if (count <= 0) continue;
    if (!all.empty() && all.back().first + all.back().second == first)
      all.back().second += count;
    else
      all.emplace_back(first, count);
  }
  return all;
}

std::string text_of(const Ranges& ranges) {
  constexpr std::size_t kMostRanges = 12;
  std::string text;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (i == kMostRanges) return text + ",...";
    const auto& [first, count] = ranges[i];
    text += fmt::format("{}{}", i == 0 ? "" : ",", first);
    if (count > 1) text += fmt::format("-{}", first + count - 1);
  }
  return text;
}

}  // namespace

std::string number_ranges(const Ranges& ranges) {
  return text_of(joined(ranges));
}

std::string rank_ranges(const Ranges& ranges) {
  const Ranges all = joined(ranges);
  if (all.empty()) return "no ranks";
  return (all.size() == 1 && all[0].second == 1 ? "rank " : "ranks ") + text_of(all);
}

}  // namespace tmpi::launch
