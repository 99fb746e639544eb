// Text for a person: on a terminal through a pager, in colours where the terminal and its user want them.
#pragma once

#include <string>

namespace tmpi::launch {

/// stdout is a terminal with colours, and NO_COLOR is not set (https://no-color.org).
bool stdout_wants_colours();

/// Writes `text` to stdout. Where that is a terminal, through $PAGER, or less where there is none; as it is if neither can be started, or if
/// PAGER is set to nothing. Returns the exit code for main; blocks until the reader has left the pager.
int show_text(const std::string& text);

}  // namespace tmpi::launch
