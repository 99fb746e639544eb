#include "launch/node/rank_sleep.hpp"

#include <fmt/core.h>

#include <atomic>
#include <string_view>

#include "launch/control/control.hpp"
#include "mpi/rank/threads.hpp"
#include "privatize/rank_signals.hpp"
#include "privatize/rank_table.hpp"
#include "privatize/sleep_hooks.hpp"
#include "sched/scheduler.hpp"
#include "sched/sleep.hpp"

namespace tmpi::launch {
namespace {

static_assert(privatize::kNoDeadline == sched::kForever);

constexpr double kWorthSaying = 1.0;  // seconds
std::atomic<bool> said{false};        // or not to be said

double seconds_held() noexcept {
  std::uint64_t sum = 0;
  for (int i = 0; i < sched::scheduler()->workers(); ++i) sum += sched::scheduler()->held(i);
  return 1e-9 * static_cast<double>(sum);
}

// Once in a job: tmpirun drops what another node process has said before.
void say_what_holding_costs(int rank, const char* call) {
  const double seconds = seconds_held();
  if (seconds <= kWorthSaying || said.exchange(true, std::memory_order_relaxed)) return;
  Control::instance()->notice(
      NoticeKind::kHeldCores,
      fmt::format("warning: ranks that could have run have waited {:.1f} seconds so far for others of their "
                  "core that sleep, the last one rank {} on host {}, in {}; with --sleep yield they run "
                  "meanwhile",
                  seconds, rank, mpi::job()->host(), call));
}

mpi::Rank& calling(const char* call) noexcept {
  mpi::Rank& rank = *static_cast<mpi::Rank*>(sched::current()->owner);
  rank.set_call(call);
  return rank;
}

// --sleep auto: for how long a rank has held its core while others were ready, since its last scheduling point. A sleep
// that lets them run is none: who only sleeps and looks, and sleeps again, waits for one of them.
class Credit {
 public:
  static constexpr std::uint64_t kLimit = 100'000'000;  // ns

  bool used_up() noexcept {
    if (const sched::Turn now = sched::turn_of_current(); now != turn_) *this = Credit(now);
    return held_ >= kLimit;
  }
  void use(std::uint64_t nanoseconds) noexcept { held_ += nanoseconds; }
  void keep() noexcept { turn_ = sched::turn_of_current(); }

  Credit() noexcept = default;

 private:
  explicit Credit(const sched::Turn& turn) noexcept : turn_(turn) {}

  sched::Turn turn_;
  std::uint64_t held_ = 0;
};
privatize::RankTable<Credit> credits;

bool hold(std::uint64_t deadline, const char* call) noexcept {
  const mpi::Rank& rank = calling(call);
  const int number = rank.world_rank;
  const std::uint32_t own = privatize::signals_delivered(number);
  std::uint32_t others = privatize::signals_of_others();
  bool slept;
  const auto interrupted = [&] { return privatize::signals_delivered(number) != own; };
  // What has interrupted the thread may have been for another rank alone.
  while (!(slept = sched::hold_until(deadline, interrupted)) && privatize::signals_delivered(number) == own &&
         privatize::signals_of_others() != others)
    others = privatize::signals_of_others();
  if (!said.load(std::memory_order_relaxed)) say_what_holding_costs(rank.world_rank, call);
  return slept;
}

bool suspend_until(std::uint64_t deadline) noexcept {
  const sched::Inside inside(sched::current());
  return sched::sleep_until(deadline);
}

void suspend(std::uint64_t nanoseconds, const char* call) noexcept {
  calling(call);
  suspend_until(nanoseconds == privatize::kNoDeadline ? sched::kForever
                                                      : sched::monotonic_now() + nanoseconds);
}

void wake(int rank) noexcept {
  const mpi::Rank* const local = mpi::job()->local(rank);
  if (local != nullptr && local->task != nullptr) sched::interrupt(*local->task);
}

bool yield(std::uint64_t deadline, const char* call) noexcept {
  const int rank = calling(call).world_rank;
  const std::uint32_t before = privatize::signals_delivered(rank);
  for (;;) {
    bool slept;
    {
      const privatize::DeferredSignals deferred(rank);
      slept = suspend_until(deadline);
    }
    // In user code, since a handler may leave by longjmp.
    privatize::deliver_signals(rank);
    if (slept || privatize::signals_delivered(rank) != before) return slept;
  }
}

bool hold_or_yield(std::uint64_t deadline, const char* call) noexcept {
  const int rank = static_cast<const mpi::Rank*>(sched::current()->owner)->world_rank;
  Credit* const credit = credits.get(rank);
  if (credit == nullptr || credit->used_up()) {
    const bool slept = yield(deadline, call);
    if (credit != nullptr) credit->keep();
    return slept;
  }
  const std::uint64_t before = sched::held_by_current_worker();
  const bool slept = hold(deadline, call);
  credit->use(sched::held_by_current_worker() - before);
  return slept;
}

bool give_way() noexcept {
  const int rank = calling("sched_yield").world_rank;
  bool given;
  {
    const privatize::DeferredSignals deferred(rank);
    const sched::Inside inside(sched::current());
    given = sched::yield_to_others();
  }
  privatize::deliver_signals(rank);
  return given;
}

auto sleep_as(std::string_view how) noexcept {
  return how == "hold" ? hold : how == "yield" ? yield : hold_or_yield;
}

}  // namespace

void register_sleep_hooks(const JobSpec& job) noexcept {
  said.store(job.quiet || job.sleep == "yield", std::memory_order_relaxed);
  privatize::set_sleep_hooks({
      .in_company = []() noexcept { return sched::has_company(); },
      .sleep_until = sleep_as(job.sleep),
      .yields = job.sleep != "hold",
      .give_way = give_way,
      .suspend = suspend,
      .wake = wake,
  });
}

}  // namespace tmpi::launch
