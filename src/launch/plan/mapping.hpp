// Mapping: which node process runs which rank (--map-by). Arithmetic only.
//
// Slots are a host's part of the job. As long as there are no more ranks than slots, a node process gets no
// more ranks than it has slots; beyond that every one gets its part in proportion, since ranks share cores
// anyway.
#pragma once

#include <cstdint>
#include <vector>

#include "launch/options/choices.hpp"

namespace tmpi::launch {

/// Node process of each of `ranks` ranks. `slots[node]` is at least 1. With at least as many ranks as slots,
/// every node process has a rank; with fewer, some may have none.
std::vector<int> map_ranks(int ranks, const std::vector<int>& slots, MapBy by);

}  // namespace tmpi::launch
