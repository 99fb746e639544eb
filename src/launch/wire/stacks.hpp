// Stacks: where every rank is, with how it has got there, for --stacks and state dumps. Node processes send each stack once,
// with all ranks that have it; tmpirun, or who words a deadlock report, makes one tree of all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launch/wire/state_dump.hpp"

namespace tmpi::launch {

/// Ranks that have come to where they are by the same calls.
struct Stack {
  std::vector<std::string> frames;  ///< "exchange (heat.c:57)", the outermost first; empty: not known
  StateDump ranks;
};
using Stacks = std::vector<Stack>;

/// Payload of a kStacks frame and back; a malformed payload gives what could be read.
std::string pack(const Stacks& stacks);
Stacks unpack_stacks(std::string_view payload);

/// The stacks of several node processes as a tree: a line for each call that ranks have in common, the ranks in front where
/// they are others than in the line above, and at the ends what they do there. Each line is indented, and ends with a newline. `most`: so many
/// lines at most, the others are counted; 0: all.
std::string describe_tree(const Stacks& stacks, int most = 0);

/// At least one rank's stack is known.
bool any_known(const Stacks& stacks);

}  // namespace tmpi::launch
