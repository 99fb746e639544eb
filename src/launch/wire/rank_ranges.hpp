// Ranks in sentences: "rank 3", "ranks 0-62,64".
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tmpi::launch {

/// `ranges` as (first, count), ascending; neighbours are joined, and a long list is cut with "...".
std::string rank_ranges(const std::vector<std::pair<int, int>>& ranges);
/// The numbers alone: "0-62,64".
std::string number_ranges(const std::vector<std::pair<int, int>>& ranges);

}  // namespace tmpi::launch
