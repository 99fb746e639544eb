// What tmpirun tells OpenMP runtimes about the cores that a rank's threads have, where the user has not.
#pragma once

#include <string>
#include <vector>

#include "launch/spec/job_spec.hpp"

namespace tmpi::launch {

/// OMP_NUM_THREADS as the ranks of this program will find it, of a list the outermost; 0: it is not set, or is no number.
int chosen_threads(const AppSpec& app);

/// The variables, as "NAME=value", for `vratio` ranks on each worker of `cores` cores. `cores` 0: nobody has said how many.
std::vector<std::string> openmp_variables(const AppSpec& app, int vratio, int cores);

}  // namespace tmpi::launch
