#include "sched/mover/balancer.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

#include "sched/mover/mover.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {
namespace {

constexpr double kNewest = 0.7;          // weight of the newest measurement, of whole steps
constexpr double kNewestPart = 0.15;     // and of a time that may hold parts of steps, after the first few
constexpr double kWithoutSteps = 10;     // periods after which loads are looked at though no step has ended
constexpr int kLongestWindow = 16;       // times as much, if what is measured then changes each time:
constexpr double kUnsteady = 0.3;        // by more than this part of all,
constexpr double kSteady = 0.1;          // until it does by less
constexpr double kWorthPlanning = 0.03;  // of the time of a step, to be gained at least
constexpr double kLongSlot = 50e-6;      // s: some twenty times what a move costs, caches included

}  // namespace

Balancer::Balancer(const BalanceChoice& choice, const Movers& movers, const TaskTable& tasks,
                   std::vector<int> nodes, MoveMemory move)
    : kind_(choice.kind),
      movers_(movers),
      tasks_(tasks),
      shortest_(timers::ticks(choice.period)),
      without_steps_(timers::ticks(kWithoutSteps * choice.period)),
      long_slot_(timers::ticks(kLongSlot)),
      last_plan_(timers::now_ticks()),
      last_step_(last_plan_.load(std::memory_order_relaxed)),
      window_(plans() ? without_steps_ : shortest_),
      living_(tasks.capacity()),
      nodes_(std::move(nodes)) {
  if (!nodes_.empty()) follower_.emplace(tasks_, nodes_, move);
}

void Balancer::step(int tasks, std::uint64_t now) noexcept {
  if (tasks * 4 < living_.load(std::memory_order_relaxed) * 3) return;
  // A long step is not cut into pieces.
  const std::uint64_t length = now - last_step_.exchange(now, std::memory_order_relaxed);
  window_.store(std::max(without_steps_, 2 * length), std::memory_order_relaxed);
  const auto since = static_cast<std::int64_t>(now - last_plan_.load(std::memory_order_relaxed));
  if (since < static_cast<std::int64_t>(shortest_) && !soon_.load(std::memory_order_relaxed)) return;
  plan(now, true);
}

int Balancer::departing(const Mover& mover) const noexcept {
  int number = 0;
  for (int id = 0; id < tasks_.capacity(); ++id) {
    const Task& task = tasks_.at(id);
    const int target = task.moving->target.load(std::memory_order_relaxed);
    if (target >= 0 && target != mover.index() && task.worker == &mover.loop()) ++number;
  }
  return number;
}

void Balancer::plan(std::uint64_t now, bool step) noexcept {
  if (planning_.exchange(true, std::memory_order_acquire)) return;
  const std::uint64_t before = last_plan_.load(std::memory_order_relaxed);
  if (now > before) {
    last_plan_.store(now, std::memory_order_relaxed);
    soon_.store(false, std::memory_order_relaxed);
    try {
      measure(now - before, step);
      if (plans()) assign();
    } catch (const std::bad_alloc&) {  // then everything stays as it is
    }
  }
  planning_.store(false, std::memory_order_release);
}

void Balancer::measure(std::uint64_t elapsed, bool step) {
  const auto number = static_cast<std::size_t>(tasks_.capacity());
  seen_.resize(number);
  loads_.resize(number);
  parts_ = step ? 0 : parts_ + 1;
  const double newest = step ? kNewest : std::max(kNewestPart, 1.0 / parts_);
  double sum = 0, change = 0;
  open_.resize(movers_.size());
  for (std::size_t w = 0; w < open_.size(); ++w) open_[w] = !movers_[w]->closed();
  int living = 0;
  for (std::size_t i = 0; i < number; ++i) {
    const Task& task = tasks_.at(static_cast<int>(i));
    Load& load = loads_[i];
    Seen& seen = seen_[i];
    const RunLoop* const worker = task.worker;
    const bool gone = worker == nullptr || task.get_state() == TaskState::kFinished;
    living += !gone;
    load.worker = worker == nullptr ? 0 : worker->index();
    load.fixed = gone || task.get_state() == TaskState::kInit ||
                 open_[static_cast<std::size_t>(load.worker)] == 0 ||
                 task.anchors.load(std::memory_order_relaxed) > 0;
    // Who has been stolen comes back, unless that worker takes nobody any more.
    if (const int wanted = task.moving->wanted(task.home);
        steals() && !load.fixed && open_[static_cast<std::size_t>(wanted)] != 0)
      load.worker = wanted;
    const std::uint64_t spent = task.moving->spent.load(std::memory_order_relaxed);
    const double rate = static_cast<double>(spent - seen.spent) / static_cast<double>(elapsed);
    sum += rate;
    change += std::abs(rate - seen.latest);
    seen.latest = rate;
    seen.rate = seen.spent == 0 ? rate : newest * rate + (1 - newest) * seen.rate;
    seen.spent = spent;
    load.time = gone ? 0 : seen.rate;
    task.moving->ties.set_share(load.time);
    load.memory_node = nodes_.empty() ? -1 : task.moving->memory_node.load(std::memory_order_relaxed);
  }
  if (counts_messages()) measure_messages(elapsed, newest);
  if (steals()) tell_ties();
  living_.store(living, std::memory_order_relaxed);
  choose_window(step, sum > 0 ? change / (2 * sum) : 0);
}

void Balancer::measure_messages(std::uint64_t elapsed, double newest) {
  constexpr double kCounts = 1e-4;  // of the time
  const double whole = 1e9 * timers::seconds(elapsed);
  links_.clear();
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    auto& peers = seen_[i].peers;
    for (auto& peer : peers) peer.rate *= 1 - newest;
    tasks_.at(static_cast<int>(i)).moving->peers.take([&](std::uint32_t task, std::uint64_t cost) {
      const int id = static_cast<int>(task);
      auto* known = std::ranges::find(peers, id, &Seen::Peer::task);
      if (known == peers.end()) {
        known = std::ranges::min_element(peers, {}, &Seen::Peer::rate);
        *known = {id, 0};
      }
      known->rate += newest * static_cast<double>(cost) / whole;
    });
  }
  // Each pair once. Who has finished draws nobody to where it was.
  const auto finished = [this](int id) { return tasks_.at(id).get_state() == TaskState::kFinished; };
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    const int id = static_cast<int>(i);
    if (finished(id)) continue;
    for (const auto& peer : seen_[i].peers) {
      if (peer.task < 0 || static_cast<std::size_t>(peer.task) >= loads_.size() || finished(peer.task))
        continue;
      const auto& others = seen_[static_cast<std::size_t>(peer.task)].peers;
      const auto* const back = std::ranges::find(others, id, &Seen::Peer::task);
      if (back != others.end() && id > peer.task) continue;
      const double cost = peer.rate + (back == others.end() ? 0 : back->rate);
      if (cost > kCounts) links_.push_back({id, peer.task, cost});
    }
  }
}

// The most expensive of each task, at both ends.
void Balancer::tell_ties() {
  known_.assign(loads_.size(), {});
  const auto tell = [this](int id, int other, double cost) {
    Known& known = known_[static_cast<std::size_t>(id)];
    int number = known.ties;
    if (number < Ties::kMost) {
      ++known.ties;
    } else {
      const auto least = std::ranges::min_element(known.costs);
      if (*least >= cost) return;
      number = static_cast<int>(least - known.costs.begin());
    }
    known.costs[static_cast<std::size_t>(number)] = static_cast<float>(cost);
    tasks_.at(id).moving->ties.set(number, other, cost);
  };
  for (const Link& link : links_) {
    tell(link.a, link.b, link.cost);
    tell(link.b, link.a, link.cost);
  }
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    if (known_[i].ties < Ties::kMost) tasks_.at(static_cast<int>(i)).moving->ties.set(known_[i].ties, -1, 0);
  }
}

Fit Balancer::fit(const Task& task, const Mover& from, const Mover& to) const noexcept {
  const Moving& moving = *task.moving;
  double drawn = 0;
  moving.ties.for_each([&](int other, double cost) {
    const RunLoop* const there = tasks_.at(other).worker;
    if (there == &to.loop()) drawn += cost;
    if (there == &from.loop()) drawn -= cost;
  });
  return sched::fit(drawn, moving.ties.share(), moving.wanted(task.home) == to.index());
}

// Where no step shows, a window of one step and a half counts some ranks' work once, others' twice. If what is measured
// is another thing each time, the window has to hold more.
void Balancer::choose_window(bool step, double change) noexcept {
  if (step) return;
  std::uint64_t window = window_.load(std::memory_order_relaxed);
  // Nothing is planned: who talks to whom is to be known soon, and any window shows it.
  if (!plans()) {
    window_.store(std::min(2 * window, without_steps_), std::memory_order_relaxed);
    return;
  }
  if (change > kUnsteady) window = std::min(2 * window, kLongestWindow * without_steps_);
  if (change < kSteady) window = std::max(window / 2, without_steps_);
  window_.store(window, std::memory_order_relaxed);
}

void Balancer::assign() {
  const double before = largest(loads_, surroundings());
  if (kind_ == BalanceKind::kGreedy) {
    assign_greedy(loads_, surroundings());
  } else {
    assign_refine(loads_, surroundings());
  }
  const bool worth = largest(loads_, surroundings()) < (1 - kWorthPlanning) * before;
  if (!worth) return;
  bool any = false;
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    Task& task = tasks_.at(static_cast<int>(i));
    const RunLoop* const worker = task.worker;
    Moving& moving = *task.moving;
    if (worker == nullptr) continue;
    const bool fixed = loads_[i].fixed;
    const bool moves = !fixed && worker->index() != loads_[i].worker;
    // What is wanted of one that cannot move now, MPIX_Migrate's word perhaps, stays wanted.
    if (!fixed) moving.assigned.store(loads_[i].worker, std::memory_order_relaxed);
    moving.target.store(moves ? loads_[i].worker : -1, std::memory_order_relaxed);
    any |= moves;
  }
  // release pairs with plan_number().
  if (any) number_.fetch_add(1, std::memory_order_release);
}

}  // namespace tmpi::sched
