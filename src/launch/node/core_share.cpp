#include "launch/node/core_share.hpp"

#include <sched.h>

#include <algorithm>

#include "sched/topology.hpp"

namespace tmpi::launch {
namespace {

// All hardware threads of cores [begin, end) in the order in which workers are placed.
void narrow_to(const sched::Topology& topology, int begin, int end) {
  const auto of_ours = [&](const sched::Place& place) {
    for (int i = begin; i < end; ++i) {
      if (topology.places[static_cast<std::size_t>(i)].core == place.core) return true;
    }
    return false;
  };
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
  if (bind && topology && end <= topology->cores) narrow_to(*topology, begin, end);
  return {end - begin, cores, shared};
}

}  // namespace tmpi::launch
