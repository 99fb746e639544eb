#include "sched/balancer.hpp"

#include <new>

#include "sched/worker.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {
namespace {

constexpr double kNewest = 0.7;          // weight of the newest measurement
constexpr double kWithoutSteps = 10;     // periods after which loads are looked at though no step has ended
constexpr double kWorthPlanning = 0.03;  // of the time of a step, to be gained at least
constexpr double kWorthMoving = 30e-6;   // s: some ten times what a move costs, caches included

}  // namespace

Balancer::Balancer(const BalanceChoice& choice, const Workers& workers, std::span<Task> tasks)
    : kind_(choice.kind),
      workers_(workers),
      tasks_(tasks),
      shortest_(timers::ticks(choice.period)),
      longest_(timers::ticks(kWithoutSteps * choice.period)),
      worth_moving_(timers::ticks(kWorthMoving)),
      last_plan_(timers::now_ticks()),
      seen_(tasks.size()),
      loads_(tasks.size()),
      open_(workers.size()) {}

Worker* Balancer::claim_idle(const Worker& here) noexcept {
  const std::size_t n = workers_.size();
  for (std::size_t i = 1; i < n; ++i) {
    Worker& other = *workers_[(static_cast<std::size_t>(here.index()) + i) % n];
    if (!other.closed() && other.claim_idle()) return &other;
  }
  return nullptr;
}

void Balancer::step(int tasks, std::uint64_t now) noexcept {
  if (static_cast<std::size_t>(tasks) * 4 < tasks_.size() * 3) return;
  const auto since = static_cast<std::int64_t>(now - last_plan_.load(std::memory_order_relaxed));
  if (since < static_cast<std::int64_t>(shortest_) && !soon_.load(std::memory_order_relaxed)) return;
  plan(now);
}

int Balancer::departing(const Worker& worker) const noexcept {
  int number = 0;
  for (const Task& task : tasks_) {
    const int target = task.moving.target.load(std::memory_order_relaxed);
    if (target >= 0 && target != worker.index() && task.worker == &worker) ++number;
  }
  return number;
}

void Balancer::plan(std::uint64_t now) noexcept {
  if (planning_.exchange(true, std::memory_order_acquire)) return;
  const std::uint64_t before = last_plan_.load(std::memory_order_relaxed);
  if (now > before) {
    last_plan_.store(now, std::memory_order_relaxed);
    soon_.store(false, std::memory_order_relaxed);
    measure(now - before);
    try {
      assign();
    } catch (const std::bad_alloc&) {  // then everything stays as it is
    }
  }
  planning_.store(false, std::memory_order_release);
}

void Balancer::measure(std::uint64_t elapsed) noexcept {
  for (std::size_t w = 0; w < open_.size(); ++w) open_[w] = !workers_[w]->closed();
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const Task& task = tasks_[i];
    Load& load = loads_[i];
    Seen& seen = seen_[i];
    const Worker* const worker = task.worker;
    const bool gone = worker == nullptr || task.get_state() == TaskState::kFinished;
    load.worker = worker == nullptr ? 0 : worker->index();
    load.fixed = gone || open_[static_cast<std::size_t>(load.worker)] == 0 ||
                 task.moving.anchors.load(std::memory_order_relaxed) > 0;
    const std::uint64_t spent = task.moving.spent.load(std::memory_order_relaxed);
    const double rate = static_cast<double>(spent - seen.spent) / static_cast<double>(elapsed);
    seen.rate = seen.spent == 0 ? rate : kNewest * rate + (1 - kNewest) * seen.rate;
    seen.spent = spent;
    load.time = gone ? 0 : seen.rate;
  }
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
  bool any = false;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const Worker* const worker = tasks_[i].worker;
    const bool moves = worth && !loads_[i].fixed && worker->index() != loads_[i].worker;
    tasks_[i].moving.target.store(moves ? loads_[i].worker : -1, std::memory_order_relaxed);
    any |= moves;
  }
  // release pairs with plan_number().
  if (any) number_.fetch_add(1, std::memory_order_release);
}

}  // namespace tmpi::sched
