#include "launch/node/layout.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace tmpi::launch {

int Layout::worker_of(int rank) const noexcept {
  if (!chosen.empty()) return chosen[static_cast<std::size_t>(rank)];
  if (full_blocks) return rank / vratio;
  const int small = ranks / workers;
  const int large_blocks = ranks % workers;  // the first blocks have one rank more
  const int in_large = large_blocks * (small + 1);
  return rank < in_large ? rank / (small + 1) : large_blocks + (rank - in_large) / small;
}

Layout plan_layout(int ranks, int cores, int vratio, int workers) {
  Layout layout;
  layout.ranks = ranks;
  layout.full_blocks = vratio > 0;
  if (vratio > 0) {
    layout.vratio = std::min(vratio, ranks);
    layout.workers = (ranks + layout.vratio - 1) / layout.vratio;
  } else {
    layout.workers = std::min(workers > 0 ? workers : std::max(cores, 1), ranks);
    layout.vratio = (ranks + layout.workers - 1) / layout.workers;
  }
  return layout;
}

Layout plan_layout_on(const std::vector<int>& cores) {
  struct Worker {
    int number = 0;
    int ranks = 0;
  };
  std::map<int, Worker> workers;  // by core
  Layout layout;
  layout.workers = 0;
  for (const int core : cores) layout.vratio = std::max(layout.vratio, ++workers[core].ranks);
  for (auto& [core, worker] : workers) worker.number = layout.workers++;
  for (const int core : cores) layout.chosen.push_back(workers[core].number);
  layout.ranks = static_cast<int>(cores.size());
  return layout;
}

std::string oversubscription_warning(const Layout& layout, int cores, int each) {
  const int room = std::max(1, cores / each);
  if (layout.workers <= room) return {};
  return fmt::format(
      "{} workers{} share {} core{}: waiting workers sleep instead of spinning, and times will vary. Fewer "
      "workers: raise "
      "--vratio to {} or more.",
      layout.workers, each == 1 ? "" : fmt::format(" of {} cores each", each), cores, cores == 1 ? "" : "s",
      (layout.ranks + room - 1) / room);
}

}  // namespace tmpi::launch
