// The role of who is inside a worker (entrance.hpp), as clang checks it (base/thread_safety.hpp): what is guarded by it is
// touched by one thread at a time, the worker's own or one of its ranks' or its attendant. One role for all workers: that
// nobody touches another worker's is said by where the members are, not by it.
#pragma once

#include "base/thread_safety.hpp"

namespace tmpi::sched {

inline constexpr Role inside_worker;

}  // namespace tmpi::sched
