#include "sched/assignment.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tmpi::sched {
namespace {

// Parts of the mean load of a worker: what counts as even, and the least that a change must gain.
constexpr double kEven = 0.01;
constexpr double kWorth = 0.002;

using Index = std::size_t;

Index of(int worker) noexcept {
  return static_cast<Index>(worker);
}

std::vector<double> sums_of(std::span<const Load> loads, Index workers, bool fixed_only) {
  std::vector<double> sums(workers);
  for (const Load& load : loads) {
    if (load.fixed || !fixed_only) sums[of(load.worker)] += load.time;
  }
  return sums;
}

/// What to move from the fullest to the emptiest worker, and perhaps back in exchange.
struct Change {
  Load* there = nullptr;
  Load* back = nullptr;
  double left = 0;  // what the fuller of the two has afterwards
};

std::vector<Load*> movable(std::span<Load> loads, int worker) {
  std::vector<Load*> tasks;
  for (Load& load : loads) {
    if (load.worker == worker && !load.fixed) tasks.push_back(&load);
  }
  std::ranges::sort(tasks, {}, [](const Load* load) { return load->time; });
  return tasks;
}

Change best_change(std::span<Load> loads, int from, int to, double full, double least, double worth) {
  Change best{.left = full};
  const auto consider = [&](Load* there, Load* back, double needed) {
    const double shift = there->time - (back != nullptr ? back->time : 0);
    const double left = std::max(full - shift, least + shift);
    if (left < best.left - needed) best = {there, back, left};
  };
  const std::vector<Load*> here = movable(loads, from), other = movable(loads, to);
  for (Load* load : here) consider(load, nullptr, 0);
  // An exchange is two moves: it must be better by something.
  const double wanted = (full - least) / 2;
  double needed = best.there != nullptr ? worth : 0;
  for (Load* load : here) {
    auto near =
        std::ranges::lower_bound(other, load->time - wanted, {}, [](const Load* one) { return one->time; });
    for (int i = 0; i < 2; ++i) {
      if (near != other.end()) {
        consider(load, *near, needed);
        if (best.back != nullptr) needed = 0;
      }
      if (near == other.begin()) break;
      --near;
    }
  }
  return best;
}

}  // namespace

double largest(std::span<const Load> loads, int workers) {
  return std::ranges::max(sums_of(loads, of(workers), false));
}

void assign_greedy(std::span<Load> loads, std::span<const char> open) {
  std::vector<double> sums = sums_of(loads, open.size(), true);
  std::vector<Load*> order;
  for (Load& load : loads) {
    if (!load.fixed) order.push_back(&load);
  }
  std::ranges::stable_sort(order, [](const Load* a, const Load* b) { return a->time > b->time; });
  for (Load* load : order) {
    int least = load->worker;  // open, since the task is not fixed
    for (Index w = 0; w < open.size(); ++w) {
      if (open[w] != 0 && sums[w] < sums[of(least)] - 0.01 * load->time) least = static_cast<int>(w);
    }
    load->worker = least;
    sums[of(least)] += load->time;
  }
}

void assign_refine(std::span<Load> loads, std::span<const char> open) {
  std::vector<double> sums = sums_of(loads, open.size(), false);
  double total = 0;
  int workers = 0;
  for (Index w = 0; w < open.size(); ++w) {
    if (open[w] == 0) continue;
    total += sums[w];
    ++workers;
  }
  if (workers < 2 || total <= 0) return;
  const double mean = total / workers;
  for (Index round = 0; round < 2 * loads.size(); ++round) {
    Index full = open.size(), least = open.size();
    for (Index w = 0; w < open.size(); ++w) {
      if (open[w] == 0) continue;
      if (full == open.size() || sums[w] > sums[full]) full = w;
      if (least == open.size() || sums[w] < sums[least]) least = w;
    }
    if (sums[full] <= (1 + kEven) * mean) return;
    const Change change = best_change(loads, static_cast<int>(full), static_cast<int>(least), sums[full],
                                      sums[least], kWorth * mean);
    if (change.there == nullptr || change.left > sums[full] - kWorth * mean) return;
    const double shift = change.there->time - (change.back != nullptr ? change.back->time : 0);
    change.there->worker = static_cast<int>(least);
    if (change.back != nullptr) change.back->worker = static_cast<int>(full);
    sums[full] -= shift;
    sums[least] += shift;
  }
}

}  // namespace tmpi::sched
