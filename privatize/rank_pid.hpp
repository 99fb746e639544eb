// Process ids as ranks see them (base/rank_pid.hpp), and what the kernel calls the same. A rank's functions that take or
// return an id of a process go through here; the runtime's own use the kernel's. All of it may be called in signal
// handlers, and leaves errno alone.
#pragma once

#include <sys/types.h>

namespace tmpi::privatize {

/// Each rank has an id of its own (default); false: that of the node process (--pid node). Before any rank runs.
void number_ranks_as_processes(bool number) noexcept;

/// The node process's, as the kernel knows it; also in a child that a rank has forked.
pid_t node_process() noexcept;

/// getpid() of a rank of this node process.
pid_t pid_of_rank(int rank) noexcept;

/// The rank of this node process that has the id; -1: none. (Not for the node process's own id.)
int rank_of_pid(pid_t id) noexcept;

/// The process that the kernel means: the node process of the rank that has the id, also another one of the job on
/// this machine. Any other id, and one that no rank can be found for, stays as it is: no process of the kernel has it.
pid_t kernel_pid(pid_t id) noexcept;

/// The same where the kernel takes the id of a thread: a rank's main flow is the worker's thread that runs it.
pid_t kernel_tid(pid_t id) noexcept;

/// The world rank that has the id, here or in another node process; -1: it is no rank's.
int world_rank_of_pid(pid_t id) noexcept;

}  // namespace tmpi::privatize
