#include "advise/virtualization.hpp"

#include <algorithm>

namespace tmpi::advise {

// docs/overlap.md, "With a progress thread": a core does the work of all its ranks one after the other, the wire their
// transfers; and no rank goes on before it has computed, been asked, which takes a slot where that is done at scheduling
// points, and been sent to.
double with_ranks_per_core(const OneRank& run, int vratio, Way way) noexcept {
  const double hidden = way == Way::kAtSchedulingPoints ? 0 : std::min(run.waits, run.between);
  const double transfers = run.waits + run.blocking;
  const double exposed = transfers - hidden;
  // What was done in idle time, and is done while others compute, takes their core.
  if (vratio <= 1) {
    const double share = transfers > 0 ? hidden / transfers : 0;
    return run.rest + run.busy + share * run.moving + exposed;
  }
  const double busy = run.busy + run.moving;
  const double slot = way == Way::kAtSchedulingPoints ? busy : 0;
  return run.rest + std::max({busy, transfers, (busy + slot + exposed) / vratio});
}

}  // namespace tmpi::advise
