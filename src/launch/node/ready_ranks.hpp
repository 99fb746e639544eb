// Which ranks could run on a core if the one that has it left it.
#pragma once

#include <utility>
#include <vector>

#include "sched/scheduler.hpp"

namespace tmpi::launch {

/// Ranks that are ready on the worker, as for rank_ranges(). Any thread; a recent state.
std::vector<std::pair<int, int>> ready_ranks(const sched::Scheduler& scheduler, int worker);

}  // namespace tmpi::launch
