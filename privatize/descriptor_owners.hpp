// Whose a file descriptor is. The kernel has one table for the node process; here a descriptor that a rank has made is
// that rank's, and no rank can close another's or the runtime's. What a rank has made by a way that nobody noticed is
// known by its flag: all of the runtime's are closed by exec (FD_CLOEXEC).
#pragma once

namespace tmpi::privatize {

/// Everything that is open now is the runtime's. Before any rank runs.
void keep_open_descriptors() noexcept;

/// The calling rank has made `fd` (-1: it has not, errno says why). Returns it, or where it is now: a rank that is saved takes
/// its files along (descriptor_numbers.hpp). Any thread; errno stays.
int own_descriptor(int fd) noexcept;

/// The same, and the program knows the number.
int own_descriptor_here(int fd) noexcept;

/// The same, of a descriptor that the rank can take along whatever it leads to.
int own_descriptor_taken_along(int fd) noexcept;

/// The calling rank may close `fd`, or put another file in its place. An fd that is not open: yes, the kernel says what is
/// wrong with it. Any thread; errno stays.
bool may_close(int fd) noexcept;

/// It is open, and the calling rank's for certain. Likewise.
bool is_own_descriptor(int fd) noexcept;

/// The largest descriptor that was ever noticed.
int last_descriptor() noexcept;

/// In a child that the calling rank has made: closes what is for certain another rank's, which as the child of a process
/// it would not have. Touches no memory.
void close_descriptors_of_others() noexcept;

/// Functions that images bind to instead of libc's of this name because they make a descriptor; null: there is none.
const void* descriptor_function(const char* name) noexcept;

}  // namespace tmpi::privatize
