// The child of a fork(2) that a rank has made: a process of its own with a copy of everything here, in which no
// worker, no other rank and no control thread runs, and whose connections are the parent's. MPI ends there with a
// sentence before it touches anything.
#pragma once

#include <string_view>

namespace tmpi::mpi {

/// From now on a child that a rank forks knows that it is one. With the job, once.
void watch_for_forks() noexcept;

/// True in such a child; there nobody is a rank (calling_rank()). Any thread, async-signal-safe.
bool in_forked_child() noexcept;

/// Ends such a child, not the job: says on its stderr that it has called `name`, and whose child it is. Any
/// thread; nothing of the program's runs on the way.
[[noreturn]] void refuse_in_forked_child(std::string_view name, int exit_code) noexcept;

}  // namespace tmpi::mpi
