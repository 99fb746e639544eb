// Unmap hooks: who unmaps memory by way of the C library announces it before, so that nobody has to ask the system
// whether somebody is about to. The C library calls these functions of its own itself (malloc does), not through symbols
// that could be taken over: their first instructions become a jump to ours.
#pragma once

#include <cstdint>

namespace tmpi::net::verbs {

/// Replaces munmap, mremap, mmap, madvise, brk, shmat and shmdt of the C library, for as long as the process lives, by
/// functions that do the same and announce what may unmap or replace pages. False: not in this process (it has threads
/// already, its C library is another, or its code may not be written). Again: the same answer.
bool hook_unmappings() noexcept;

/// Whether unmappings are announced, all but those by a system call of somebody's own. Any thread.
bool unmappings_are_announced() noexcept;

/// Whether any is under way: each counts from before its system call until after, those of dlclose() too. An address that
/// somebody has got because another has given it up is not used before that other's announcement is seen here, or its
/// unmapping has returned. Any thread.
bool unmapping_is_announced() noexcept;

/// Changes, before and after, with each that the system tells nobody of: shmdt(), and shmat() with SHM_REMAP. Any thread.
std::uint64_t untold_unmappings() noexcept;

}  // namespace tmpi::net::verbs
