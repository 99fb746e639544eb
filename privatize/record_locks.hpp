// Record locks (fcntl F_SETLK, F_SETLKW, F_GETLK; lockf). The kernel's belong to a process: all ranks of a node would
// get the same ones. So the locks of a rank on a file belong to an open file description that only that rank has
// (F_OFD_SETLK), opened beside those of the program. They exclude other ranks, other node processes, and every other
// process of the machine as record locks do. docs/reference/libc-state.md.
#pragma once

#include <fcntl.h>

namespace tmpi::privatize {

/// fcntl(fd, command, lock) of the calling rank, for the three commands. F_SETLKW SUSPENDS if the lock is to be waited
/// for and other ranks share the worker; a thread of the rank waits itself.
int lock_records(int rank, int fd, int command, struct flock* lock) noexcept;

/// The rank is about to close the descriptor: its locks on that file are gone, as POSIX has it. Any thread.
void drop_record_locks(int rank, int fd) noexcept;

/// The same for all files: the rank leaves its program.
void drop_all_record_locks(int rank) noexcept;

/// The descriptor is one that such locks need: none of a rank's.
bool is_lock_descriptor(int fd) noexcept;

}  // namespace tmpi::privatize
