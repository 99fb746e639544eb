// The model of Denis et al. (CCGrid'22, section III): how long a program takes when communication progresses beside it,
// from one run in which it did not. Arithmetic only; all times in seconds, of one core. docs/design/advice.md.
#pragma once

#include <cstdint>

namespace tmpi::advise {

/// A class of calls.
struct Calls {
  double number = 0;
  double time = 0;      ///< that a core has spent in them, or idle because of them
  double shortest = 0;  ///< of a call
  double least = 0;     ///< that one of them has run; the rest of it was idle
};

/// One run without progress beside the ranks, of a core on the average. `other` calls are unaffected.
struct Measured {
  double total = 0;      ///< t_noprogress
  double computing = 0;  ///< t_comp
  Calls blocking, nonblocking, test, wait, other;
  double cores = 1;  ///< of a node, N_core
};

/// Time of all calls with somebody who makes progress beside them; `alpha` of the blocking ones have been
/// made nonblocking, with enough to compute before their waits.
double calls_with_progress(const Measured& run, double alpha) noexcept;

/// One of the node's `cores` is taken from the ranks. Infinite on one core.
double with_core(const Measured& run, double alpha, double cores) noexcept;
inline double with_core(const Measured& run, double alpha) noexcept {
  return with_core(run, alpha, run.cores);
}

/// A thread takes `taken` seconds from each core instead.
double with_thread(const Measured& run, double alpha, double taken) noexcept;

/// The least alpha for which a core of its own is no slower than the run itself; above 1: none is.
double least_alpha(const Measured& run) noexcept;

}  // namespace tmpi::advise
