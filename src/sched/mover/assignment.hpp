// Assignment: which task is to run where, so that all workers have the same to do. Functions of the measured loads
// alone; balancer.hpp measures and moves.
#pragma once

#include <span>

namespace tmpi::sched {

/// What one task has to do, and where. The functions below change `worker`.
struct Load {
  double time = 0;
  int worker = 0;
  bool fixed = false;    ///< it stays where it is
  int memory_node = -1;  ///< NUMA node where its memory lies; -1: no matter
};

/// Tasks `a` and `b`, indices of their loads, send each other messages: as long as they are on different workers that
/// takes each of the two workers so much, in the unit of Load::time, and more across NUMA nodes.
struct Link {
  int a = 0;
  int b = 0;
  double cost = 0;
};

/// What the loads live in, and what tasks have to do with each other.
struct Surroundings {
  std::span<const char> open;   ///< by worker: tasks may come there
  std::span<const int> nodes;   ///< by worker: its NUMA node; empty: there is one
  std::span<const Link> links;  ///< no pair twice
};

/// The largest sum of what a worker has to do, messages to other workers included.
double largest(std::span<const Load> loads, const Surroundings& around);

/// The longest first, each to the worker that has least so far; to its own if that has hardly more. Without regard to
/// messages. O(n (log n + workers)).
void assign_greedy(std::span<Load> loads, const Surroundings& around);

/// Moves a task, or exchanges two, between the fullest and the emptiest worker, as long as that helps: few moves.
void assign_refine(std::span<Load> loads, const Surroundings& around);

}  // namespace tmpi::sched
