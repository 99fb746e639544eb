#include "sched/mover/assignment.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tmpi::sched {
namespace {

// Parts of the mean load of a worker: what counts as even, and the least that a change must gain.
constexpr double kEven = 0.01;
constexpr double kWorth = 0.002;
// What computing takes longer with memory of another NUMA node, and a message between two, as factors: a guess that only
// has to be of the right order, since memory follows who stays (follow.hpp).
constexpr double kFarMemory = 1.1;
constexpr double kFarMessage = 2;

using Index = std::size_t;

Index of(int number) noexcept {
  return static_cast<Index>(number);
}

/// Loads, and what they cost wherever they are.
class Costs {
 public:
  Costs(std::span<Load> loads, const Surroundings& around) : loads_(loads), around_(around) {
    if (around.links.empty()) return;
    first_.resize(loads.size() + 1);
    for (const Link& link : around.links) {
      ++first_[of(link.a) + 1];
      ++first_[of(link.b) + 1];
    }
    for (Index i = 0; i < loads.size(); ++i) first_[i + 1] += first_[i];
    std::vector<Index> next(first_.begin(), first_.end() - 1);
    ends_.resize(2 * around.links.size());
    for (const Link& link : around.links) {
      ends_[next[of(link.a)]++] = {link.b, link.cost};
      ends_[next[of(link.b)]++] = {link.a, link.cost};
    }
  }

  /// By worker.
  std::vector<double> sums(bool fixed_only) const {
    std::vector<double> sums(around_.open.size());
    for (const Load& load : loads_) {
      if (load.fixed || !fixed_only) sums[of(load.worker)] += time_on(load, load.worker);
    }
    for (const Link& link : around_.links) {
      const int a = loads_[of(link.a)].worker, b = loads_[of(link.b)].worker;
      sums[of(a)] += link.cost * distance(a, b);
      sums[of(b)] += link.cost * distance(a, b);
    }
    return sums;
  }

  // What its worker is rid of when the task goes to worker `to`, and what that one gets, other tasks' messages included.
  struct Change {
    double less, more;
  };
  Change moving(const Load& load, int to) const noexcept {
    const int from = load.worker;
    Change change{time_on(load, from), time_on(load, to)};
    for (const End& end : ends_of(load)) {
      const int there = loads_[of(end.task)].worker;
      change.less += end.cost * distance(from, there);
      change.more += end.cost * distance(to, there);
      if (there == from) change.less -= end.cost * distance(from, to);
      if (there == to) change.more -= end.cost * distance(from, to);
    }
    return change;
  }
  /// What moving() of each has not seen if two tasks take each other's place.
  double between(const Load& one, const Load& other) const noexcept {
    const int number = static_cast<int>(&other - loads_.data());
    double cost = 0;
    for (const End& end : ends_of(one)) {
      if (end.task == number) cost += end.cost;
    }
    return cost * distance(one.worker, other.worker);
  }

  void put(Load& load, int worker) const noexcept {
    load.time = time_on(load, worker);
    load.worker = worker;
  }

 private:
  struct End {
    int task;
    double cost;
  };
  std::span<const End> ends_of(const Load& load) const noexcept {
    if (first_.empty()) return {};
    const auto number = static_cast<Index>(&load - loads_.data());
    return std::span(ends_).subspan(first_[number], first_[number + 1] - first_[number]);
  }
  int node_of(int worker) const noexcept { return around_.nodes.empty() ? 0 : around_.nodes[of(worker)]; }
  double distance(int a, int b) const noexcept {
    if (a == b) return 0;
    return node_of(a) == node_of(b) ? 1 : kFarMessage;
  }
  // `time` is what it has taken where it is.
  double time_on(const Load& load, int worker) const noexcept {
    if (worker == load.worker || load.memory_node < 0 || around_.nodes.empty()) return load.time;
    const bool far_here = node_of(load.worker) != load.memory_node;
    const bool far_there = node_of(worker) != load.memory_node;
    if (far_here == far_there) return load.time;
    return far_there ? load.time * kFarMemory : load.time / kFarMemory;
  }

  const std::span<Load> loads_;
  const Surroundings& around_;
  std::vector<Index> first_;  // by task: its first end; empty: there are no links
  std::vector<End> ends_;
};

/// What to move from the fullest to the emptiest worker, and perhaps back in exchange.
struct Change {
  Load* there = nullptr;
  Load* back = nullptr;
  double left = 0;             // what the fuller of the two has afterwards
  double full = 0, least = 0;  // both
};

std::vector<Load*> movable(std::span<Load> loads, int worker) {
  std::vector<Load*> tasks;
  for (Load& load : loads) {
    if (load.worker == worker && !load.fixed) tasks.push_back(&load);
  }
  std::ranges::sort(tasks, {}, [](const Load* load) { return load->time; });
  return tasks;
}

Change best_change(const Costs& costs, std::span<Load> loads, int from, int to, double full, double least,
                   double worth) {
  Change best{.left = full};
  const auto consider = [&](Load* there, Load* back, double needed) {
    const Costs::Change away = costs.moving(*there, to);
    double full_then = full - away.less, least_then = least + away.more;
    if (back != nullptr) {
      const Costs::Change other = costs.moving(*back, from);
      const double apart = 2 * costs.between(*there, *back);
      full_then += other.more + apart;
      least_then += apart - other.less;
    }
    const double left = std::max(full_then, least_then);
    if (left < best.left - needed) best = {there, back, left, full_then, least_then};
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

double largest(std::span<const Load> loads, const Surroundings& around) {
  std::vector<Load> copy(loads.begin(), loads.end());
  return std::ranges::max(Costs(copy, around).sums(false));
}

void assign_greedy(std::span<Load> loads, const Surroundings& around) {
  const std::span<const char> open = around.open;
  std::vector<double> sums = Costs(loads, {.open = open, .nodes = {}, .links = {}}).sums(true);
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

void assign_refine(std::span<Load> loads, const Surroundings& around) {
  const std::span<const char> open = around.open;
  const Costs costs(loads, around);
  std::vector<double> sums = costs.sums(false);
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
    const Change change = best_change(costs, loads, static_cast<int>(full), static_cast<int>(least),
                                      sums[full], sums[least], kWorth * mean);
    if (change.there == nullptr || change.left > sums[full] - kWorth * mean) return;
    costs.put(*change.there, static_cast<int>(least));
    if (change.back != nullptr) costs.put(*change.back, static_cast<int>(full));
    sums[full] = change.full;
    sums[least] = change.least;
  }
}

}  // namespace tmpi::sched
