// What a node process on another machine than tmpirun does differently at its start: tmpirun's surroundings
// are not there by inheritance.
#pragma once

#include "base/fd.hpp"
#include "launch/control/control_channel.hpp"
#include "launch/spec/node_spec.hpp"
#include "launch/system/program_path.hpp"

namespace tmpi::launch {

class Control;

/// The way to tmpirun over this process's stdin and stdout, which a remote shell connects to tmpirun. They are
/// replaced: nobody else may write there. `output` becomes the reading end of a pipe behind the new stdout.
ControlChannel take_standard_streams(Fd& output);

/// Takes over tmpirun's environment and directory. Nothing else runs yet. Failure: the directory is missing.
Result<void> enter_surroundings(const NodeSpec& node, const JobSpec& job);

/// Finds the programs of `job` on this machine: where tmpirun has found them, or where tmpirun would look.
/// A ProgramPath with a problem if one is missing; `job` has their paths otherwise.
ProgramPath find_programs(JobSpec& job);

}  // namespace tmpi::launch
