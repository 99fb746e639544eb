// The processor time of ranks, as clock(), times(), getrusage() and CLOCK_PROCESS_CPUTIME_ID tell it: that of a rank's
// own flow of control, taken from its worker's clock at switches, and of the threads that it has created. Counted from
// the moment on that somebody asks, or from the start if the program is known to: a reading of the thread's clock is a
// system call, which a job without such questions does not pay at every switch.
#pragma once

#include <cstdint>

namespace tmpi::privatize {

/// From now on; any thread, idempotent.
void count_processor_time() noexcept;

/// On the thread of a worker, between ranks `from` and `to` (-1: none), if time is counted. A system call.
void switch_processor_time(int from, int to) noexcept;

/// The calling thread, a rank's own, is about to end: its time stays the rank's.
void keep_processor_time(int rank) noexcept;
/// ns of such threads.
std::uint64_t kept_processor_time(int rank) noexcept;

/// ns that the rank's own flow of control has run since its time is counted. A rank's thread.
std::uint64_t processor_time_of_flow(int rank) noexcept;
/// The same with all threads that the rank has created.
std::uint64_t processor_time_of_rank(int rank) noexcept;

}  // namespace tmpi::privatize
