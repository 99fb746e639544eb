// Signals by which a descriptor tells that it is ready (F_SETOWN, O_ASYNC; leases, F_NOTIFY). The kernel knows the node
// process as who hears of them, and keeps one signal of a number for the process only; so it sends another one, which
// says of which descriptor it is, and here is who hears of that, and by which signal.
#pragma once

#include <signal.h>

namespace tmpi::privatize {

/// The commands of fcntl that have to do with them, and fcntl with one of these. `argument` as fcntl has it.
bool is_signal_command(int command) noexcept;
int signal_fcntl(int fd, int command, void* argument) noexcept;

inline constexpr int kNoDescriptor = -1;  ///< it is not about a descriptor
/// The rank of this process that hears of the descriptor that the signal is about, and `info` as the rank is to see it.
/// Async-signal-safe.
int rank_of_descriptor_signal(siginfo_t& info) noexcept;

}  // namespace tmpi::privatize
