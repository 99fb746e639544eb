// What a worker's thread is blocked in where MPI knows nothing of it: a system call of a rank's own. Read from /proc
// by another thread; without that nothing is known.
#pragma once

#include <cstdint>
#include <string>

namespace tmpi::launch {

/// "read(5) of a pipe": the system call that the thread (a kernel's number, of this process) is blocked in now. Empty:
/// it runs, or nobody knows.
std::string blocking_call(int thread);

/// Nanoseconds that the thread has run so far; 0: nobody knows. Unchanged: it has not run in between.
std::uint64_t time_run(int thread) noexcept;

}  // namespace tmpi::launch
