// Balancer: what the workers of a process share of balancing: what is wanted (--balance), who idles, and the plan, made
// from time to time of what each task has run since the last one. docs/design/load-balance.md.
//
// Workers move tasks (mover.hpp); here is only said which.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/platform.hpp"
#include "sched/balances.hpp"
#include "sched/loop/task_table.hpp"
#include "sched/move.hpp"
#include "sched/mover/assignment.hpp"
#include "sched/mover/follow.hpp"

namespace tmpi::sched {

class Mover;

class Balancer {
 public:
  /// Of all workers, one after the other.
  using Movers = std::vector<Mover*>;

  /// Of these workers, who may come later, and tasks, some of which may not have been spawned yet; others may be added. `nodes`: of each
  /// worker its NUMA node, or nothing if all have the same; `move`: how memory is moved between those.
  Balancer(const BalanceChoice& choice, const Movers& movers, const TaskTable& tasks, std::vector<int> nodes,
           MoveMemory move);

  // Any thread; none of these suspends.
  bool rotates() const noexcept { return kind_ == BalanceKind::kRotate; }
  bool steals() const noexcept { return kind_ == BalanceKind::kSteal || kind_ == BalanceKind::kAuto; }
  bool plans() const noexcept {
    return kind_ == BalanceKind::kGreedy || kind_ == BalanceKind::kRefine || kind_ == BalanceKind::kAuto;
  }

  /// It is asked who talks to whom.
  bool counts_messages() const noexcept { return kind_ == BalanceKind::kRefine || steals(); }
  /// What worker `to`, which idles, is to a task of worker `from`.
  Fit fit(const Task& task, const Mover& from, const Mover& to) const noexcept;

  /// Ticks: the turn of a task that is long; what is worth being taken by a worker that idles; the part of a turn for
  /// which one more task is offered.
  std::uint64_t long_slot() const noexcept { return long_slot_; }
  std::uint64_t worth_taking() const noexcept { return 3 * long_slot_; }
  /// The mean of the turns of a task that has long ones, though most may be short.
  std::uint64_t long_mean() const noexcept { return long_slot_ / 4; }
  /// For which a worker idles before it takes any: its own may be about to become ready.
  std::uint64_t patience() const noexcept { return long_slot_ / 2; }
  std::uint64_t offered_in() const noexcept { return long_slot_ / 16; }

  /// All workers but few have come to the end of a step: a plan, unless there was one not long ago.
  void step(int tasks, std::uint64_t now) noexcept;
  /// At a switch: a plan if no step has ended for long; where only idle workers move tasks, a measurement.
  void at_switch(std::uint64_t now) noexcept {
    // Signed: another worker's plan may be later than this one's look at the clock.
    const auto since = static_cast<std::int64_t>(now - last_plan_.load(std::memory_order_relaxed));
    if (since > static_cast<std::int64_t>(window_.load(std::memory_order_relaxed)) ||
        soon_.load(std::memory_order_relaxed)) [[unlikely]]
      plan(now, false);
  }
  void plan_soon() noexcept { soon_.store(true, std::memory_order_relaxed); }
  /// Changes with each plan that moves tasks (Moving::target). acquire: those are seen.
  std::uint64_t plan_number() const noexcept { return number_.load(std::memory_order_acquire); }
  /// Tasks that are to leave this one's worker.
  int departing(const Mover& mover) const noexcept;

  /// Before any task runs.
  void set_hooks(const MoveHooks& hooks) noexcept { hooks_ = hooks; }
  const MoveHooks& hooks() const noexcept { return hooks_; }
  /// Null: there is one NUMA node.
  Follower* follower() noexcept { return follower_ ? &*follower_ : nullptr; }

  const Movers& movers() const noexcept { return movers_; }

 private:
  void plan(std::uint64_t now, bool step) noexcept;
  void measure(std::uint64_t elapsed, bool step);
  void measure_messages(std::uint64_t elapsed, double newest);
  void tell_ties();
  Surroundings surroundings() const noexcept { return {open_, nodes_, links_}; }
  void choose_window(bool step, double change) noexcept;
  void assign();

  const BalanceKind kind_;
  const Movers& movers_;
  const TaskTable& tasks_;
  const std::uint64_t shortest_,
      without_steps_;  // ticks between two plans: at the end of a step, and without one
  const std::uint64_t long_slot_;
  alignas(kCacheLine) std::atomic<std::uint64_t> last_plan_;  // ticks
  std::atomic<std::uint64_t> last_step_;                      // ticks, likewise
  std::atomic<std::uint64_t> window_;  // ticks after which there is a plan though no step has ended
  std::atomic<std::uint64_t> number_{0};
  std::atomic<bool> soon_{false};
  alignas(kCacheLine) std::atomic<bool> planning_{false};  // acquire, release: guards what follows
  struct Seen {
    std::uint64_t spent = 0;
    double latest = 0;  // of the time that has passed, how much the task has run
    double rate = 0;    // the same, exponentially weighted
    struct Peer {
      int task = -1;
      double rate = 0;  // of the time, what messages to it would cost between workers; likewise
    };
    std::array<Peer, Peers::kMost> peers;
  };
  std::atomic<int> living_;  // tasks that had not finished when that was last looked at; relaxed
  int parts_ = 0;            // measurements of late that were not of whole steps
  std::vector<Seen> seen_;   // by task
  std::vector<Load> loads_;  // likewise
  std::vector<Link> links_;  // between two that had not finished
  struct Known {
    int ties = 0;
    std::array<float, Ties::kMost> costs;
  };
  std::vector<Known> known_;  // by task: what it is told of its ties; scratch
  std::vector<char> open_;    // by worker
  std::vector<int> nodes_;    // by worker: its NUMA node; empty: there is one
  std::optional<Follower> follower_;
  MoveHooks hooks_;
};

}  // namespace tmpi::sched
