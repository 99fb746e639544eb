// The timers of ranks, as their signals see them. Internal to this folder.
#pragma once

#include <signal.h>

namespace tmpi::shim {

inline constexpr int kNoTimer = -1;       ///< of a rank
inline constexpr int kDeletedTimer = -2;  ///< it was one of a rank's when it sent the signal

/// Of a signal: the rank whose timer has sent it, and `info` as the rank is to see it; or one of the two above.
/// Async-signal-safe.
int rank_of_timer(siginfo_t& info) noexcept;

/// The rank has made some and not deleted them.
bool has_timers(int rank) noexcept;

/// Deletes the rank's timers.
void delete_timers(int rank) noexcept;

}  // namespace tmpi::shim
