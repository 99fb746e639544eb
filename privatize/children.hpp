// The child processes of ranks. The kernel knows children of the node process only; here each has the rank that made
// it. wait() and its kin collect a rank's own, and the end of a child is told to its rank alone.
#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

namespace tmpi::privatize {

/// The rank has made the child (fork, vfork, posix_spawn, clone).
void add_child(int rank, pid_t child) noexcept;

/// Some that the rank has made have not been waited for.
bool has_children(int rank) noexcept;

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
