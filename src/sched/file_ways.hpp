// Who makes the system calls on files that take their time (--file-io), by name: one table for parsing, help and
// messages. Needs nothing of the scheduler, so that tmpirun can read it too. docs/design/files.md.
#pragma once

#include <cstdint>

#include "base/choices.hpp"

namespace tmpi::sched {

enum class FileWay : std::uint8_t { kAuto, kUring, kThreads };

inline constexpr Choice<FileWay> kFileWays[] = {
    {"auto", FileWay::kAuto, "uring", ""},
    {"uring", FileWay::kUring, "the kernel's own threads, by io_uring; where it is refused, threads",
     "[:SIZE]"},
    {"threads", FileWay::kThreads, "a pool of threads of the node process", "[:SIZE]"},
};

struct FileChoice {
  FileWay way = FileWay::kAuto;
  /// Calls that move so many bytes, or more, are made so, wherever the file lies; negative: where a core is better used otherwise.
  std::int64_t limit = -1;
};

}  // namespace tmpi::sched
