// look_at_stopped: a look at this process while nothing in it moves, though it may be in the midst of anything.
#pragma once

#include <span>

#include "ult/registers.hpp"

namespace tmpi::launch {

struct StoppedThread {
  int id = 0;  ///< the kernel's
  ult::Registers registers;
};

/// Calls look(threads, argument) with all threads of this process stopped, and lets them go on. `look` runs in a
/// process of its own that shares this one's memory and is the others' tracer, as LeakSanitizer's: what it writes is
/// there afterwards. It must not allocate, take a lock that others might hold, or wait. Threads that do not stop (they are
/// deep in the kernel) are left out. If the system does not permit it (a debugger is attached, ptrace is forbidden)
/// `look` is called with no threads, and nothing is stopped. Blocks the caller for as long; any thread, one at a time.
/// False: there is no memory, or no process could be made, or look() has crashed outside of survives().
bool look_at_stopped(void (*look)(std::span<const StoppedThread> threads, void* argument), void* argument);

/// Inside look(): calls function(argument). False: it has touched memory that is not there, and was left.
bool survives(void (*function)(void* argument), void* argument);

}  // namespace tmpi::launch
