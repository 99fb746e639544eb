#include "report/over_time.hpp"

#include <algorithm>

namespace tmpi::report {

observe::ProfiledBins cores_over_time(const observe::Profile& profile) {
  observe::ProfiledBins all;
  for (const observe::ProfiledWorker& worker : profile.workers)
    all.width = std::max(all.width, worker.over_time.width);
  if (all.width <= 0) return all;
  for (const observe::ProfiledWorker& worker : profile.workers) {
    const observe::ProfiledBins& bins = worker.over_time;
    for (std::size_t i = 0; i < bins.computing.size(); ++i) {
      // The middle of a bin: widths are powers of two of a clock's ticks, and clocks of hosts differ by a little.
      const auto place = static_cast<std::size_t>((static_cast<double>(i) + 0.5) * bins.width / all.width);
      if (place >= all.computing.size()) {
        all.computing.resize(place + 1);
        all.mpi.resize(place + 1);
      }
      all.computing[place] += bins.computing[i];
      all.mpi[place] += bins.mpi[i];
    }
  }
  return all;
}

}  // namespace tmpi::report
