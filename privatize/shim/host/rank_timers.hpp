// The timers of ranks, as their signals see them. Internal to this folder.
#pragma once

#include <signal.h>

namespace tmpi::shim {

/// Of a signal: the rank whose timer has sent it, and `info` as the rank is to see it; -1: no rank's timer.
/// Async-signal-safe.
int rank_of_timer(siginfo_t& info) noexcept;

/// Deletes the rank's timers.
void delete_timers(int rank) noexcept;

}  // namespace tmpi::shim
