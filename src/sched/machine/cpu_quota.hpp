// The share of CPUs that control groups grant this process (containers, batch systems). Reads files; never
// suspends.
#pragma once

#include <string>

namespace tmpi::sched {

/// CPUs' worth of time per unit of time, the tightest limit on the way up to the root; infinity if there is
/// none. Version 2 of the cgroup file system ("cpu.max") and version 1 ("cpu.cfs_quota_us"). The paths are
/// parameters for the test's sake.
double cgroup_cpu_quota(const std::string& self = "/proc/self/cgroup",
                        const std::string& root = "/sys/fs/cgroup");

}  // namespace tmpi::sched
