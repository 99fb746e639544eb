#include <algorithm>
#include <cstddef>

#include "mpi/diagnose/deadlock.hpp"

namespace tmpi::mpi {
namespace {

std::size_t at(int i) noexcept {
  return static_cast<std::size_t>(i);
}

// Members that cannot be in a cycle lose their edges: those without any, then those that only led to them.
std::vector<bool> candidates(const std::vector<std::vector<int>>& waits_for) {
  const std::size_t n = waits_for.size();
  std::vector<std::vector<int>> waited_by(n);
  std::vector<std::size_t> left(n);
  std::vector<int> dead;
  for (std::size_t i = 0; i < n; ++i) {
    left[i] = waits_for[i].size();
    if (left[i] == 0) dead.push_back(static_cast<int>(i));
    for (int other : waits_for[i]) waited_by[at(other)].push_back(static_cast<int>(i));
  }
  while (!dead.empty()) {
    const int gone = dead.back();
    dead.pop_back();
    for (int other : waited_by[at(gone)]) {
      if (--left[at(other)] == 0) dead.push_back(other);
    }
  }
  std::vector<bool> alive(n);
  for (std::size_t i = 0; i < n; ++i) alive[i] = left[i] > 0;
  return alive;
}

// The shortest way from `start` back to it, by breadth.
std::vector<int> shortest_through(int start, const std::vector<std::vector<int>>& waits_for) {
  std::vector<int> from(waits_for.size(), -1);
  std::vector<int> queue{start};
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const int here = queue[next];
    for (int other : waits_for[at(here)]) {
      if (other == start) {
        std::vector<int> cycle;
        for (int member = here; member != start; member = from[at(member)]) cycle.push_back(member);
        cycle.push_back(start);
        std::reverse(cycle.begin(), cycle.end());
        return cycle;
      }
      if (from[at(other)] < 0) {
        from[at(other)] = here;
        queue.push_back(other);
      }
    }
  }
  return {};
}

// Somebody in a cycle: whoever is alive waits for at least one who is alive, so walking on comes round.
int member_of_cycle(int start, const std::vector<std::vector<int>>& waits_for,
                    const std::vector<bool>& alive) {
  std::vector<bool> seen(waits_for.size());
  int here = start;
  while (!seen[at(here)]) {
    seen[at(here)] = true;
    here = *std::ranges::find_if(waits_for[at(here)], [&](int other) { return alive[at(other)]; });
  }
  return here;
}

}  // namespace

std::vector<int> find_cycle(const std::vector<std::vector<int>>& waits_for) {
  const std::vector<bool> alive = candidates(waits_for);
  const auto first = std::ranges::find(alive, true);
  if (first == alive.end()) return {};
  return shortest_through(member_of_cycle(static_cast<int>(first - alive.begin()), waits_for, alive),
                          waits_for);
}

}  // namespace tmpi::mpi
