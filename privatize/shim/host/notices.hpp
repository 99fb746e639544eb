// Signals and threads by which asynchronous requests tell ranks that something has come or is done: aio, mq_notify
// (struct sigevent). libc and the kernel send them to the process, and the kernel keeps one signal of a number; so
// another one is asked for, which names the rank's.
#pragma once

#include <signal.h>

namespace tmpi::shim {

/// `event`, with which libc is going to be called, tells the rank: a signal is the rank's alone, a function runs on a thread of
/// the rank. It may stay as it is where it is the program's own memory: one that has been claimed before is left so.
/// False, with errno: no memory.
bool claim_notice(int rank, sigevent& event) noexcept;

inline constexpr int kNoNotice = -1;
/// Of a signal: the rank that it is to tell, and `info` as the rank is to see it. Async-signal-safe.
int rank_of_notice(siginfo_t& info) noexcept;

}  // namespace tmpi::shim
