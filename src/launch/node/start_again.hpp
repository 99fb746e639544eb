// A node process that starts itself again: some libraries (runtimes of sanitizers) must be in a process from its start,
// and which ones the programs need it learns with the job. It executes its own program anew with them in LD_PRELOAD,
// and goes on where it was: the control channel stays open, and what has come through it is handed on in a memory file.
#pragma once

#include <optional>
#include <span>

#include "base/fd.hpp"
#include "launch/control/control_channel.hpp"

namespace tmpi::launch {

class Control;

/// How a node process begins.
struct Beginning {
  ControlChannel channel;
  Fd output;           ///< a pipe whose bytes go to tmpirun's stdout, if there is one
  bool again = false;  ///< by itself
};

/// Starts again if a program of the job needs it; returns if none does, or if the system refuses. Between
/// Control::receive_job() and start(), while the process has one thread. `output`: Beginning::output.
void start_again_if_needed(const Control& control, const Assignment& assignment, int output);

/// The beginning that the arguments of a process that was started again describe; none: another was meant. Takes what
/// was added to LD_PRELOAD out of it: it is not for ranks and their children.
std::optional<Beginning> begin_again(std::span<char* const> arguments);

}  // namespace tmpi::launch
