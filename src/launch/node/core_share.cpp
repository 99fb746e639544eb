#include "launch/node/core_share.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <set>

#include "sched/machine/topology.hpp"

namespace tmpi::launch {
namespace {

// All hardware threads of these cores.
void narrow_to(const sched::Topology& topology, const std::set<int>& cores) {
  const auto of_ours = [&](const sched::Place& place) { return cores.contains(place.core); };
  int most = 0;
  for (const sched::Place& place : topology.places) most = std::max(most, place.pu);
  const auto cpus = static_cast<std::size_t>(most) + 1;
  cpu_set_t* mask = CPU_ALLOC(cpus);
  if (mask == nullptr) return;
  CPU_ZERO_S(CPU_ALLOC_SIZE(cpus), mask);
  for (const sched::Place& place : topology.places) {
    if (of_ours(place)) CPU_SET_S(static_cast<std::size_t>(place.pu), CPU_ALLOC_SIZE(cpus), mask);
  }
  sched_setaffinity(0, CPU_ALLOC_SIZE(cpus), mask);  // without it, workers of node processes just share cores
  CPU_FREE(mask);
}

}  // namespace

CoreShare take_cores(int share, int sharers, bool bind) {
  const int cores = sched::available_cores();
  if (sharers <= 1) return {cores, cores, false};
  const bool shared = sharers > cores;
  const int begin = shared ? share % cores : share * cores / sharers;
  const int end = shared ? begin + 1 : (share + 1) * cores / sharers;
  const auto topology = sched::Topology::discover();
  if (bind && topology && end <= topology->cores) {
    std::set<int> ours;  // in the order in which workers are placed
    for (int i = begin; i < end; ++i) ours.insert(topology->places[static_cast<std::size_t>(i)].core);
    narrow_to(*topology, ours);
  }
  return {end - begin, cores, shared};
}

Result<std::vector<int>> take_chosen_cores(const std::vector<RankCore>& chosen, bool bind) {
  const auto topology = sched::Topology::discover();
  if (!topology) return topology.failure();
  const auto end = topology->places.begin() + topology->cores;  // one hardware thread of each
  std::vector<int> cores;
  for (const RankCore& name : chosen) {
    const auto found = std::find_if(topology->places.begin(), end, [&](const sched::Place& place) {
      return name.socket < 0 ? place.core == name.core
                             : place.socket == name.socket && place.core_of_socket == name.core;
    });
    if (found == end) {
      std::vector<int> usable;
      for (auto place = topology->places.begin(); place != end; ++place) usable.push_back(place->core);
      return Failure{fmt::format("has no core {}{} that this job may use; it may use {}",
                                 name.socket < 0 ? "" : fmt::format("{}:", name.socket), name.core,
                                 fmt::join(usable, ", "))};
    }
    cores.push_back(found->core);
  }
  if (bind) narrow_to(*topology, std::set<int>(cores.begin(), cores.end()));
  return cores;
}

}  // namespace tmpi::launch
