// The cores that a rank has chosen for its own flow of control (sched_setaffinity, pthread_setaffinity_np). Its worker
// runs others as well, and stays where it is; so they are only remembered, told to whoever asks, and are those of the
// threads that the rank makes. A thread's own choice is the kernel's business.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <cstddef>

namespace tmpi::privatize {

/// As sched_setaffinity of the rank's own flow: 0, or -1 with errno. Any thread of the rank.
int choose_cores(int rank, std::size_t size, const cpu_set_t* cores) noexcept;

/// False if it has chosen none: then those of its worker count. Else fills `cores`.
bool chosen_cores(int rank, std::size_t size, cpu_set_t* cores) noexcept;

/// The system call made by its number, as libomp does: the bytes that it has filled in of `cores`, or -1 with errno.
long syscall_getaffinity(pid_t thread, std::size_t size, cpu_set_t* cores) noexcept;

/// The calling thread, which the rank has just made, runs where the rank would like to.
void follow_choice(int rank) noexcept;

}  // namespace tmpi::privatize
