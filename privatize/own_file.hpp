// /proc/self/exe is the node process's file. A rank that asks for its own by that name gets its program's.
#pragma once

namespace tmpi::privatize {

/// `path`, or the program's file of the rank that the calling thread runs if `path` is /proc/self/exe or another of
/// its spellings. Any thread; does not allocate.
const char* own_file(const char* path) noexcept;

}  // namespace tmpi::privatize
