// The rank's file descriptors 0, 1 and 2. All ranks share the node process's real ones, so the shim gives
// each rank a small table of its own: where its stdin, stdout and stderr lead. They lead to the node
// process's callbacks (rank_callbacks.h) until the program redirects them (freopen, dup2, close). Copies of
// them made with dup() are recognised by number.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace tmpi::shim {

/// True for 0, 1, 2 and for copies of them: numbers that mean something else to the rank than to the process.
bool is_rank_descriptor(int fd) noexcept;

/// 0 to 2: a copy of this stream of the launcher's. -1: none of these.
int stream_behind_copy(int fd) noexcept;

/// False if the rank has closed it.
bool is_open_descriptor(int fd) noexcept;

/// write(2) and read(2) on a rank descriptor. A read may SUSPEND the fiber.
ssize_t write_descriptor(int fd, const void* data, std::size_t length) noexcept;
ssize_t read_descriptor(int fd, void* data, std::size_t length) noexcept;
off_t seek_descriptor(int fd, off_t offset, int whence) noexcept;

/// Real descriptor behind a rank descriptor that the program has redirected, -1 if it leads to the launcher or
/// is closed.
int real_descriptor(int fd) noexcept;

/// In a child that the rank has made: the process's 0, 1 and 2 become what the rank's are. Touches no memory.
void lay_out_standard_streams() noexcept;

/// In a child that the rank has forked: the same, and from now on 0, 1 and 2 are the process's own.
void become_plain() noexcept;

/// From now on rank descriptor `fd` (0..2) leads to the real descriptor `real`, which it owns.
void redirect_descriptor(int fd, int real) noexcept;

/// close(2) on a rank descriptor: 0 or -1 with errno.
int close_descriptor(int fd) noexcept;

}  // namespace tmpi::shim
