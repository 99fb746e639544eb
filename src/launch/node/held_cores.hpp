// Held cores: a rank that is blocked in a system call of its own holds its worker, and with it all other ranks there.
// If it waits for one of them (through a pipe, a file lock, a child), the job hangs, and no deadlock report comes:
// that rank is not blocked in MPI. So who runs the job is told.
#pragma once

#include <string>

namespace tmpi::launch {

/// Compares with its previous call, which should be seconds ago: a rank that has been blocked in one system call ever
/// since, while others of its worker could have run. The sentence for the user, once in a process; else empty.
/// The control thread.
std::string held_core();

/// The same without --sleep hold, where only calls hold a core that are not left to another thread.
std::string held_core_without_hold();

}  // namespace tmpi::launch
