// Stacks of the ranks of this node process, with names and source lines: for --stacks, state dumps and the deadlock report.
#pragma once

#include "launch/wire/stacks.hpp"

namespace tmpi::launch {

/// How each rank has come to where it is, and what it does there, `dump`'s word on it being a moment old. A rank's frames
/// begin with its main, and end where it has come into tmpi. Everything stands still for as long as the stacks are
/// followed: some 10 us for each rank. Any thread that runs no rank; blocks it for longer, while names are looked up.
Stacks rank_stacks(const StateDump& dump);

}  // namespace tmpi::launch
