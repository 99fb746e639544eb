// Activity: how long ranks run and wait, and workers work and idle, from the times of their switches. One account for
// --profile, --trace and the tools interface. Nothing is written, and no clock is read, until somebody wants to know;
// from then on to the end of the job. Times in ticks.
#pragma once

#include <cstdint>

#include "mpi/rank/rank.hpp"

namespace tmpi::mpi::tool {

/// Switches are accounted from now on. Any thread, any time; idempotent. May allocate; does not suspend.
void account_switches();
/// The same for `rank`, which is the calling one, and therefore runs.
void account_switches_of(Rank& rank);
/// Nothing changes any more: the job ends. Any thread.
void freeze_activity() noexcept;

struct WorkerTimes {
  std::uint64_t busy = 0;
  std::uint64_t idle = 0;
  std::uint64_t switches = 0;  ///< stretches in which a rank ran
};
/// Of worker `worker` since account_switches(), up to `now`. Any thread.
WorkerTimes times_of_worker(int worker, std::uint64_t now) noexcept;

/// Of a rank, up to `now`, likewise: suspended, running, and of the time suspended that in which its core had nothing
/// else to run until it went on.
struct RankTimes {
  std::uint64_t running = 0;
  std::uint64_t waited = 0;
  std::uint64_t idled = 0;
};
RankTimes times_of(const Rank& rank, std::uint64_t now) noexcept;

}  // namespace tmpi::mpi::tool
