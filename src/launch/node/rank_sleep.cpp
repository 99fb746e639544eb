#include "launch/node/rank_sleep.hpp"

#include <fmt/core.h>

#include <atomic>

#include "launch/control/control.hpp"
#include "mpi/rank/threads.hpp"
#include "privatize/rank_signals.hpp"
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

}  // namespace

void register_sleep_hooks(const JobSpec& job) noexcept {
  said.store(job.quiet || job.sleep_yields, std::memory_order_relaxed);
  privatize::set_sleep_hooks({
      .in_company = []() noexcept { return sched::has_company(); },
      .sleep_until = job.sleep_yields ? yield : hold,
      .yields = job.sleep_yields,
      .suspend = suspend,
      .wake = wake,
  });
}

}  // namespace tmpi::launch
