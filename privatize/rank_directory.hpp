// The working directory of a rank. The kernel has one per thread, if a thread asks for it (CLONE_FS): a worker
// does when the first of its ranks changes its own, and goes from one to the other as it switches ranks from
// then on. Ranks that have chosen the same one cost nothing more; a worker of whose ranks none has changed its
// directory pays nothing at all. The same thing of the kernel's keeps the file mode creation mask (umask): it goes along.
// docs/reference/libc-state.md.
#pragma once

#include "base/of_thread.hpp"

namespace tmpi::privatize {

/// The calling OS thread (of_thread) has a working directory of its own. initial-exec: read at every switch.
extern constinit thread_local bool thread_has_directory __attribute__((tls_model("initial-exec")));

/// Takes the calling thread, which has a directory of its own, to the rank's. A system call unless it is
/// there. Does not suspend, throw or allocate; errno stays.
void enter_directory(int rank) noexcept;

/// The calling thread takes on the rank's file mode creation mask. A system call unless it has it. Does not suspend or
/// throw; errno stays.
void enter_umask(int rank) noexcept;

/// chdir of the calling rank, from its own flow of control, before its program runs. False: errno says why.
bool choose_directory(int rank, const char* path) noexcept;

/// The calling thread, which the rank has just made, keeps the directory and the mask that the rank has now, whatever
/// becomes of its worker. `with_worker`: the thread that made it has a directory of its own.
void keep_directory(int rank, bool with_worker) noexcept;

/// The rank leaves its program.
void forget_directory(int rank) noexcept;

}  // namespace tmpi::privatize
