// Assignment: which task is to run where, so that all workers have the same to do. Functions of the measured loads
// alone; balancer.hpp measures and moves.
#pragma once

#include <span>

namespace tmpi::sched {

/// What one task has to do, and where. The functions below change `worker`.
struct Load {
  double time = 0;
  int worker = 0;
  bool fixed = false;  ///< it stays where it is
};

/// The largest sum of loads of a worker.
double largest(std::span<const Load> loads, int workers);

/// The longest first, each to the worker that has least so far; to its own if that has hardly more. `open[w]`: tasks may
/// come to worker w. O(n (log n + workers)).
void assign_greedy(std::span<Load> loads, std::span<const char> open);

/// Moves a task, or exchanges two, between the fullest and the emptiest worker, as long as that helps: few moves.
void assign_refine(std::span<Load> loads, std::span<const char> open);

}  // namespace tmpi::sched
