// A thread pointer (the base of fs) that belongs to a fiber and goes with it from thread to thread. To all that finds
// thread-locals by it, the program and libc among them, the fiber is a thread of its own: errno, pthread_self(), malloc's
// cache. docs/design/privatization.md, "A thread pointer of the rank's own".
#pragma once

#include "base/thread_pointer.hpp"

namespace tmpi::ult {

/// Puts a thread pointer in force. An instruction where processor and kernel have it (FSGSBASE), else a system call.
void set_thread_pointer(void* pointer) noexcept;

namespace detail {
extern bool has_instruction;  // changed by tests alone
}

}  // namespace tmpi::ult
