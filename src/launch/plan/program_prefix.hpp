// What users put in front of a program: `tmpirun -n 4 nice -n 5 ./hello`. Each of mpirun's processes would be started
// through it; here the node process is, which runs them all (--wrapper).
#pragma once

#include "base/result.hpp"
#include "launch/options/options.hpp"

namespace tmpi::launch {

/// Moves commands that run another one (env, nice, taskset, numactl, strace, perf, ...) from in front of the job's
/// programs to settings.wrapper; what env sets becomes a variable of its program. Failure: it cannot be told which
/// word is the program, or the job's programs have different ones.
Result<void> take_prefixes(Settings& settings);

}  // namespace tmpi::launch
