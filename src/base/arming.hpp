// Arming: what a thread that wants to sleep until a source of events has something to do must watch. Between
// the transports (net/), which say it, and the workers (sched/), which sleep.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tmpi {

struct Arming {
  bool ready = false;             ///< there is something to do now: do not sleep
  int fd = -1;                    ///< readable when there is; -1: only time will tell
  std::uint64_t nanoseconds = 0;  ///< sleep no longer than this; 0: no limit

  /// Sleep no longer than `most` either; 0: no limit.
  void limit(std::uint64_t most) noexcept {
    if (most != 0) nanoseconds = nanoseconds == 0 ? most : std::min(nanoseconds, most);
  }
  /// What is to be watched for another source, but for its descriptor, which the one here stands for.
  void add(const Arming& other) noexcept {
    ready = ready || other.ready;
    limit(other.nanoseconds);
  }
};

}  // namespace tmpi
