// Crash reports: a fatal signal in a rank ends the job with one message that names the rank, the host, the
// signal, the address, an overflowed stack, and the functions that were active. Everything in the handler is
// async-signal-safe.
#pragma once

#include <signal.h>

namespace tmpi::launch {

/// Installs the handlers. Once, before any rank runs, after Control::create. They run on the alternate signal
/// stack that the scheduler gives each worker, so an overflowed fiber stack can be reported.
void install_crash_handlers();

/// The fault shows that the stack of the running rank (or helper fiber) is too small. `context`: a handler's third argument. In a handler.
bool is_stack_overflow(int signal, const siginfo_t& info, const void* context) noexcept;

/// What no_memory_for() calls in a node process (report_no_memory_by()): the job ends with a sentence that names rank, host, the MPI
/// call and `what` there was no memory for. Returns if the control thread cannot send it.
void report_no_memory(const char* what) noexcept;

/// Kills the process group that it leads when tmpirun dies (parent_death.hpp). At the very start of the node process.
void install_parent_death_handler();

}  // namespace tmpi::launch
