// The child processes of ranks. The kernel knows children of the node process only; here each has the rank that made
// it. wait() and its kin collect a rank's own, and the end of a child is told to its rank alone.
#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

namespace tmpi::privatize {

/// The rank has made the child (fork, vfork, posix_spawn, clone).
void add_child(int rank, pid_t child) noexcept;

/// Programs that ranks start get `soft` as their limit on open descriptors, which the runtime has raised for itself to what
/// it is now. Before any rank runs.
void raise_limit_for_ranks_alone(rlim_t soft) noexcept;

/// The process (0: the calling one), a child of a rank that is about to become another program or has, gets it, unless
/// the rank has set another one since. errno stays.
void limit_child(pid_t child) noexcept;

/// The rank leaves its program: nobody waits for its children any more, and they are collected when others come.
void abandon_children(int rank) noexcept;

/// How a rank wants to hear of its children.
struct ChildWishes {
  bool wanted = false;     ///< it has a handler for SIGCHLD, or ignores it
  bool ends_only = false;  ///< SA_NOCLDSTOP
  bool collected = false;  ///< they leave nothing to wait for (SIG_IGN, SA_NOCLDWAIT)
};

/// A child of a rank that has ended, stopped or gone on, which next_change() has not told of yet. `wishes` is asked of each
/// child's rank. False: there is none. Async-signal-safe, with all signals blocked.
struct ChildChange {
  int rank;
  siginfo_t info;
};
bool next_change(ChildWishes (*wishes)(int rank), ChildChange& change) noexcept;

}  // namespace tmpi::privatize
