// How ps, top and profilers show this process.
#pragma once

#include <string>
#include <vector>

namespace tmpi::launch {

/// Shows the process as if it had been started with these words: its command line (ps, pgrep -f), and the name of the
/// calling thread, which is to be the process's first (top, killall): the base name of `words[0]`. The kernel's copy of the
/// arguments is replaced, or overwritten as far as it goes where the kernel refuses. Once, before other threads start.
void show_as(const std::vector<std::string>& words);

/// The last part of a path.
std::string base_name_of(const std::string& path);

}  // namespace tmpi::launch
