// File calls: system calls on files that may take their time, made by the kernel's own threads (io_uring) where it lets
// us, while the calling task is suspended; elsewhere the pool makes them (offload.hpp). docs/design/files.md.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstdint>
#include <string>

#include "sched/file_ways.hpp"

namespace tmpi::sched {

/// As preadv(), pwritev() and fsync() have it.
struct FileCall {
  enum class Kind : std::uint8_t { kRead, kWrite, kSync };
  Kind kind = Kind::kSync;
  int fd = -1;
  const iovec* vectors = nullptr;
  int count = 0;
  off_t offset = 0;
};

/// That a worker's ring takes at a time; more are offloaded.
inline constexpr unsigned kMostFileCalls = 128;
/// Of the pool: enough to keep a disk's queue filled.
inline constexpr int kMostFileThreads = 16;

/// Before the first call, or while there is none under way: tests.
void use_file_way(FileChoice choice) noexcept;
/// FileChoice::limit.
std::int64_t file_limit() noexcept;

/// The calling task may call_by_ring(). A task, on its worker; makes the worker's ring if it has none yet.
bool has_file_ring() noexcept;

/// Makes the call: `result` as the system call returns it, and errno. It may be interrupted, and do less than it is
/// asked. False, and nothing has happened: there is no ring, or it takes none now; offload() it. SUSPENDS. A task, on its
/// worker.
[[nodiscard]] bool call_by_ring(const FileCall& call, ssize_t& result) noexcept;

/// So far, in this process; relaxed, a figure. Any thread.
std::uint64_t calls_by_ring() noexcept;

/// Why io_uring is not used though it was asked for; empty: it is, or has not been tried. Any thread.
std::string why_no_ring();

}  // namespace tmpi::sched
