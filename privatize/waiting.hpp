// What functions that other files of the loader define wait for (waiting_functions.cpp).
#pragma once

#include <sys/types.h>

namespace tmpi::privatize {

/// openat(2); while it waits until another process or rank opens the other end of a FIFO, others of the worker run. Any
/// thread. SUSPENDS.
int open_or_wait(int directory, const char* path, int flags, mode_t mode) noexcept;

/// syscall(SYS_futex, ...) with these arguments: others of the worker run while it waits. SUSPENDS.
long futex_call(const long (&arguments)[6]) noexcept;

/// Functions that images bind to instead of libc's of this name because they may wait; null: there is none.
const void* waiting_function(const char* name) noexcept;
/// The same of streams (waiting_streams.cpp).
const void* stream_function(const char* name) noexcept;

}  // namespace tmpi::privatize
