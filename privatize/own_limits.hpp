// Resource limits of ranks (setrlimit): what a rank has set it is told again, and the programs that it starts have it;
// other ranks keep theirs. The node process's own limit, by which the kernel goes, is the largest that one of its ranks
// has, so that a rank on its own, or all together, are limited as processes are; some resources cannot be limited so
// (own_limits.cpp). errno is set as by setrlimit(2).
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

namespace tmpi::privatize {

/// Programs that ranks start get `soft` as their limit on open descriptors, which the runtime has raised for itself to what
/// it is now. Before any rank runs.
void raise_limit_for_ranks_alone(rlim_t soft) noexcept;

/// So many ranks more (or less) are to run in this process.
void expect_ranks(int more) noexcept;

/// The process (0: the calling one), a child of a rank that runs the rank's program on, gets the limits that the rank has
/// set. errno stays. Also between vfork and exec.
void hand_down_limits(pid_t child) noexcept;

/// The process (0: the calling one), a child of a rank that is about to become another program or has, gets the limit on
/// descriptors that programs are started with, unless the rank has set another one since. errno stays.
void limit_child(pid_t child) noexcept;

}  // namespace tmpi::privatize
