// The threads that ranks have created and that have not ended (helper_threads.cpp). Any thread.
#pragma once

#include <pthread.h>

#include <cstdint>

namespace tmpi::privatize {

/// The calling thread runs the rank's own flow of control, not one that the rank has created.
bool on_own_flow(int rank) noexcept;

/// Some rank of the process has created a thread, ever.
bool threads_have_been_created() noexcept;

/// The thread is one that a rank has created, and has not ended. Takes a lock: not in signal handlers.
bool is_live_thread(pthread_t thread) noexcept;

/// The rank has created threads that have not ended. Likewise.
bool has_live_threads(int rank);

/// ns that those of the rank have run, and those that have ended, as far as it is counted (processor_time.hpp). In a signal handler that has interrupted a change of the list: 0.
std::uint64_t processor_time_of_threads(int rank) noexcept;

}  // namespace tmpi::privatize
