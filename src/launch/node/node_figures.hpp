// What cores and ranks of this node process do at this moment, for tmpi-top.
#pragma once

#include "launch/wire/figures.hpp"

namespace tmpi::launch {

/// Only words and counters that are there anyway are read: nothing is measured for it. Any thread; about 1 us for each worker
/// and a read of /proc/self/statm.
NodeFigures node_figures();

}  // namespace tmpi::launch
