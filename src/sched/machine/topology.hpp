// Topology: the cores this process may use, in the order in which workers are placed on them (hwloc). Set-up
// only.
#pragma once

#include <sched.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace tmpi::sched {

/// One hardware thread.
struct Place {
  int core = 0;  ///< hwloc's logical core number
  int pu = 0;    ///< the operating system's CPU number
  int numa_node = 0;
  int socket = 0;          ///< hwloc's logical number
  int core_of_socket = 0;  ///< number of the core in its socket
};

struct Topology {
  /// First one hardware thread of every core, then the second of every core, ...: worker i is placed on
  /// places[i % size].
  std::vector<Place> places;
  int cores = 0;

  /// Reads the machine as far as the calling thread's affinity mask allows it.
  static Result<Topology> discover();
  /// Takes `count` cores out of those for workers: on NUMA node `numa_node` if there are some (-1: no matter),
  /// the last ones first. One hardware thread of each. Empty, and nothing has been taken, if fewer than
  /// `for_workers` would be left.
  std::vector<Place> set_aside(int count, int numa_node, int for_workers);
  /// The places lie on more than one NUMA node.
  bool several_numa_nodes() const;
  /// Where worker `worker` is placed: on the next `cores_of_each` cores, one hardware thread of each, and from
  /// the front again where there are no more. At least one place; all cores if they are fewer.
  std::span<const Place> places_of(int worker, int cores_of_each = 1) const;
};

/// "cores 0, 1 (PUs 0, 2), NUMA node 0". At least one place.
std::string describe(std::span<const Place> places);

/// Number of cores the calling thread may use (affinity mask), at most the cgroup's CPU quota rounded up; at
/// least 1. What tmpirun takes as the number of workers when it is not told.
int available_cores();

/// CPUs' worth of time this process can get: hardware threads in the affinity mask, or the cgroup's quota if
/// that is less.
double cpu_limit();

/// Pins the calling thread to these hardware threads; false if the kernel refuses (the set of allowed CPUs has
/// shrunk).
bool pin_to(std::span<const Place> places) noexcept;

/// The affinity mask that the calling thread had when this was made.
class Affinity {
 public:
  Affinity();

  /// Gives the calling thread this mask.
  void apply() const noexcept;
  /// As the kernel takes it; 0 bytes: unknown.
  const cpu_set_t* mask() const noexcept { return mask_.data(); }
  std::size_t bytes() const noexcept { return mask_.size() * sizeof(cpu_set_t); }

 private:
  std::vector<cpu_set_t> mask_;  // large machines need more than one
};

/// Put back around run(): pinning is the workers', not the caller's.
class SavedAffinity : public Affinity {
 public:
  SavedAffinity() = default;
  ~SavedAffinity() { apply(); }
  SavedAffinity(const SavedAffinity&) = delete;
  SavedAffinity& operator=(const SavedAffinity&) = delete;
};

}  // namespace tmpi::sched
