// Raw I/O: pieces of a file to and from memory by system calls, until all is done: calls that are interrupted or
// do less than they were asked are continued. Blocks the calling thread, unless it says otherwise; no lock, no exception.
// Which thread that is decides NodeFile (node_file.hpp).
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <span>

#include "mpi.h"

namespace tmpi::mpi {

/// Consecutive bytes of a file and their place in memory.
struct Piece {
  MPI_Offset offset;
  MPI_Count length;
  std::byte* data;
};

struct IoResult {
  MPI_Count bytes = 0;   ///< done, from the first piece on
  int error = 0;         ///< errno; 0: all is done, or (reading) the file has ended
  MPI_Offset where = 0;  ///< where it went wrong, or the file ended
};

/// Writes the pieces in their order; those that are neighbours in the file in one system call.
IoResult write_pieces(int fd, std::span<const Piece> pieces) noexcept;
/// Reads them. Fewer bytes than asked without an error: the file ends at `where`; what follows is not looked at.
IoResult read_pieces(int fd, std::span<const Piece> pieces) noexcept;
/// Reads what is in the page cache, and no more: error EAGAIN where something is not, or nobody can tell.
IoResult read_cached(int fd, std::span<const Piece> pieces) noexcept;
/// Moving them takes a few system calls at most, so that each may be made by itself.
bool in_few_calls(std::span<const Piece> pieces) noexcept;
/// write_pieces() and read_rest(), each system call beside the worker (sched/file_calls.hpp). SUSPEND. Called by a task.
IoResult write_beside(int fd, std::span<const Piece> pieces) noexcept;
IoResult read_beside(int fd, std::span<const Piece> pieces, const IoResult& begun) noexcept;
/// fsync(); its errno. Likewise.
int sync_beside(int fd) noexcept;
/// Goes on where `begun` has ended.
IoResult read_rest(int fd, std::span<const Piece> pieces, const IoResult& begun) noexcept;

/// Locks bytes [begin, end) against other node processes (open file description locks; `end` 0: to the end of
/// the file). Does not wait: EAGAIN if somebody else has them. The errno, 0 if it has the lock.
int try_lock_bytes(int fd, MPI_Offset begin, MPI_Offset end, bool exclusive) noexcept;
void unlock_bytes(int fd, MPI_Offset begin, MPI_Offset end) noexcept;

/// What the kernel is asked by; tests put others in their place, which do less or fail.
struct SystemCalls {
  ssize_t (*read)(int, const iovec*, int, off_t);
  ssize_t (*write)(int, const iovec*, int, off_t);
  ssize_t (*read_cached)(int, const iovec*, int, off_t);
  ssize_t (*read_beside)(int, const iovec*, int, off_t);
  ssize_t (*write_beside)(int, const iovec*, int, off_t);
};
extern SystemCalls g_system_calls;

}  // namespace tmpi::mpi
