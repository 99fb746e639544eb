// What a worker's thread has to do at a switch beside noting which rank runs: nothing, mostly. One word that is read at
// every switch, whatever the reasons may be.
#pragma once

#include <atomic>

namespace tmpi::privatize {

enum SwitchDuty : unsigned {
  kEnterDirectory = 1,     ///< some thread has a working directory of its own (rank_directory.hpp)
  kCountTime = 2,          ///< somebody has asked for the processor time of ranks (processor_time.hpp)
  kEnterLocale = 4,        ///< some rank has chosen a locale (rank_locale.hpp)
  kEnterUmask = 8,         ///< some rank has chosen a file mode creation mask (rank_directory.hpp)
  kSwitchSignalMask = 16,  ///< some rank has blocked a signal (rank_signal_mask.hpp)
  kSwitchX87Flags = 32,    ///< some image handles floating-point flags (x87_flags.hpp)
};

/// Relaxed: a worker that learns of it a switch later has missed nothing that was asked for before.
inline constinit std::atomic<unsigned> switch_duties{0};

inline void demand(SwitchDuty duty) noexcept {
  if ((switch_duties.load(std::memory_order_relaxed) & duty) == 0)
    switch_duties.fetch_or(duty, std::memory_order_relaxed);
}

}  // namespace tmpi::privatize
