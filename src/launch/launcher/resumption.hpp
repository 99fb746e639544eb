// Resumption: a job whose node processes have ended, and whose ranks go on from their last checkpoint in others: since a host
// was lost (--survive), or since hosts are to be added or removed (--add-host, --remove-host).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "launch/options/options.hpp"
#include "launch/plan/job_plan.hpp"
#include "launch/wire/checkpoint_news.hpp"

namespace tmpi::launch {

struct Resumption {
  std::vector<HostSlots> hosts;  ///< that the job runs on from now on; empty: as before
  std::string lost_host;         ///< but for this one, in whose place a spare one comes; empty: none
  std::optional<CheckpointNews>
      checkpoint;           ///< the last that was begun; nothing: none was since the ranks began or went on
  std::uint64_t first = 0;  ///< number of the first one
  bool written = false;     ///< at least one of them is complete
};

/// The hosts of a running job with others, or without some: a list as in --host. Failure: what is wrong with it, or what would
/// be lost with them.
Result<std::vector<HostSlots>> hosts_with(const Settings& settings, std::string_view more);
Result<std::vector<HostSlots>> hosts_but(const Settings& settings, const JobPlan& plan,
                                         std::string_view less);

/// What is to be run next. Failure: no host is left, or the checkpoint cannot be read.
Result<void> resume(Settings& settings, const Resumption& from);

}  // namespace tmpi::launch
