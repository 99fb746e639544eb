// --explore: runs the job again and again, each time with another choice of the messages that wildcards take, and says which
// outcomes differ. docs/design/replay.md, Exploration.
#pragma once

#include "launch/options/options.hpp"

namespace tmpi::launch {

/// `argv`: tmpirun's own, with --explore. Returns the exit code: that of all runs, 1 if they differ.
int explore(const Settings& settings, char** argv);

}  // namespace tmpi::launch
