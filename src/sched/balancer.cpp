#include "sched/balancer.hpp"

#include <algorithm>
#include <cmath>
#include <new>

#include "sched/worker.hpp"
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
constexpr double kLongSlot = 20e-6;      // s: some ten times what a move costs, caches included

}  // namespace

Balancer::Balancer(const BalanceChoice& choice, const Workers& workers, std::span<Task> tasks)
    : kind_(choice.kind),
      workers_(workers),
      tasks_(tasks),
      shortest_(timers::ticks(choice.period)),
      without_steps_(timers::ticks(kWithoutSteps * choice.period)),
      long_slot_(timers::ticks(kLongSlot)),
      last_plan_(timers::now_ticks()),
      last_step_(last_plan_.load(std::memory_order_relaxed)),
      window_(without_steps_),
      seen_(tasks.size()),
      loads_(tasks.size()),
      open_(workers.size()) {}

void Balancer::step(int tasks, std::uint64_t now) noexcept {
  if (static_cast<std::size_t>(tasks) * 4 < tasks_.size() * 3) return;
  // A long step is not cut into pieces.
  const std::uint64_t length = now - last_step_.exchange(now, std::memory_order_relaxed);
  window_.store(std::max(without_steps_, 2 * length), std::memory_order_relaxed);
  const auto since = static_cast<std::int64_t>(now - last_plan_.load(std::memory_order_relaxed));
  if (since < static_cast<std::int64_t>(shortest_) && !soon_.load(std::memory_order_relaxed)) return;
  plan(now, true);
}

int Balancer::departing(const Worker& worker) const noexcept {
  int number = 0;
  for (const Task& task : tasks_) {
    const int target = task.moving.target.load(std::memory_order_relaxed);
    if (target >= 0 && target != worker.index() && task.worker == &worker) ++number;
  }
  return number;
}

void Balancer::plan(std::uint64_t now, bool step) noexcept {
  if (planning_.exchange(true, std::memory_order_acquire)) return;
  const std::uint64_t before = last_plan_.load(std::memory_order_relaxed);
  if (now > before) {
    last_plan_.store(now, std::memory_order_relaxed);
    soon_.store(false, std::memory_order_relaxed);
    measure(now - before, step);
    try {
      if (plans()) assign();
    } catch (const std::bad_alloc&) {  // then everything stays as it is
    }
  }
  planning_.store(false, std::memory_order_release);
}

void Balancer::measure(std::uint64_t elapsed, bool step) noexcept {
  parts_ = step ? 0 : parts_ + 1;
  const double newest = step ? kNewest : std::max(kNewestPart, 1.0 / parts_);
  double sum = 0, change = 0;
  for (std::size_t w = 0; w < open_.size(); ++w) open_[w] = !workers_[w]->closed();
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const Task& task = tasks_[i];
    Load& load = loads_[i];
    Seen& seen = seen_[i];
    const Worker* const worker = task.worker;
    const bool gone = worker == nullptr || task.get_state() == TaskState::kFinished;
    const int assigned = task.moving.assigned.load(std::memory_order_relaxed);
    load.worker = worker == nullptr ? 0 : worker->index();
    load.fixed = gone || open_[static_cast<std::size_t>(load.worker)] == 0 ||
                 task.moving.anchors.load(std::memory_order_relaxed) > 0;
    // Who has been stolen comes back.
    if (steals() && !load.fixed && assigned >= 0) load.worker = assigned;
    const std::uint64_t spent = task.moving.spent.load(std::memory_order_relaxed);
    const double rate = static_cast<double>(spent - seen.spent) / static_cast<double>(elapsed);
    sum += rate;
    change += std::abs(rate - seen.latest);
    seen.latest = rate;
    seen.rate = seen.spent == 0 ? rate : newest * rate + (1 - newest) * seen.rate;
    seen.spent = spent;
    load.time = gone ? 0 : seen.rate;
  }
  choose_window(step, sum > 0 ? change / (2 * sum) : 0);
}

// Where no step shows, a window of one step and a half counts some ranks' work once, others' twice. If what is measured
// is another thing each time, the window has to hold more.
void Balancer::choose_window(bool step, double change) noexcept {
  if (step) return;
  std::uint64_t window = window_.load(std::memory_order_relaxed);
  if (change > kUnsteady) window = std::min(2 * window, kLongestWindow * without_steps_);
  if (change < kSteady) window = std::max(window / 2, without_steps_);
  window_.store(window, std::memory_order_relaxed);
}

void Balancer::assign() {
  const int workers = static_cast<int>(open_.size());
  const double before = largest(loads_, workers);
  if (kind_ == BalanceKind::kGreedy) {
    assign_greedy(loads_, open_);
  } else {
    assign_refine(loads_, open_);
  }
  const bool worth = largest(loads_, workers) < (1 - kWorthPlanning) * before;
  if (!worth) return;
  bool any = false;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const Worker* const worker = tasks_[i].worker;
    Moving& moving = tasks_[i].moving;
    const bool moves = !loads_[i].fixed && worker->index() != loads_[i].worker;
    moving.assigned.store(loads_[i].fixed ? -1 : loads_[i].worker, std::memory_order_relaxed);
    moving.target.store(moves ? loads_[i].worker : -1, std::memory_order_relaxed);
    any |= moves;
  }
  // release pairs with plan_number().
  if (any) number_.fetch_add(1, std::memory_order_release);
}

}  // namespace tmpi::sched
