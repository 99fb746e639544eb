#include "advise/model.hpp"

#include <algorithm>
#include <limits>

namespace tmpi::advise {

double calls_with_progress(const Measured& run, double alpha) noexcept {
  const Calls& blocking = run.blocking;
  const double both = run.nonblocking.shortest + run.wait.shortest;
  return run.nonblocking.number * run.nonblocking.shortest + run.test.number * run.test.shortest +
         run.wait.number * run.wait.shortest + alpha * blocking.number * both + (1 - alpha) * blocking.time +
         run.other.time;
}

double with_core(const Measured& run, double alpha, double cores) noexcept {
  if (cores <= 1) return std::numeric_limits<double>::infinity();
  return run.computing * cores / (cores - 1) + calls_with_progress(run, alpha);
}

double with_thread(const Measured& run, double alpha, double taken) noexcept {
  return run.computing + taken + calls_with_progress(run, alpha);
}

double least_alpha(const Measured& run) noexcept {
  const double none = with_core(run, 0), all = with_core(run, 1);
  if (none <= run.total) return 0;
  if (all >= none) return 2;
  return std::min((none - run.total) / (none - all), 2.0);
}

}  // namespace tmpi::advise
