// The signals that a rank blocks. The kernel keeps them for the thread: a worker's has those of the rank that it runs, once
// one has blocked any, and what was pending for a rank that leaves the thread comes along with it. docs/reference/libc-state.md.
#pragma once

namespace tmpi::privatize {

/// The calling worker's thread goes from one rank to another (-1: none). A system call or more if either blocks
/// signals. Does not suspend or throw; errno stays.
void switch_signal_mask(int from, int to) noexcept;

/// The rank leaves its program.
void forget_signal_mask(int rank) noexcept;

}  // namespace tmpi::privatize
